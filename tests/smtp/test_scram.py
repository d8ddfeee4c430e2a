"""SCRAM-SHA-256: the vector of RFC 7677, hostile messages, and logins over IMAP and SMTP by a client written here."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import aiosmtplib
import pytest

from bridge import passwords, scram
from bridge.auth import Authenticator
from bridge.net.limits import FIRST_DELAY, NETWORK_FAILURES, LoginLimited, LoginLimits
from bridge.sasl import SaslError
from config.settings import SCRAM, Imap, Settings
from mailstore.model import Account
from mailstore.store import Store
from tests.imap.harness import PASSWORD, Client, house_settings, open_house
from tests.smtp import support
from tests.smtp.support import cheap_hasher, opened, settings_for

HERE, FAR = "127.0.0.1", "203.0.113.9"
FEW = 4096  # iterations: enough for the client to accept, few enough for a test


class Asked:
    """The client's half, by RFC 5802 alone; nothing of the server's code is used."""

    def __init__(self, login: str, password: str, *, gs2: str = "n,,", nonce: str | None = None) -> None:
        self._password = password.encode()
        self._gs2 = gs2
        self._nonce = nonce or base64.b64encode(secrets.token_bytes(18)).decode()
        self._bare = f"n={login.replace('=', '=3D').replace(',', '=2C')},r={self._nonce}"

    def first(self) -> bytes:
        return f"{self._gs2}{self._bare}".encode()

    def final(self, challenge: bytes, **changes: str) -> bytes:
        fields = dict(part.split("=", 1) for part in challenge.decode().split(","))
        assert fields["r"].startswith(self._nonce)
        assert len(fields["r"]) > len(self._nonce)
        assert int(fields["i"]) >= 4096
        salted = hashlib.pbkdf2_hmac("sha256", self._password, base64.b64decode(fields["s"]), int(fields["i"]))
        key = hmac.new(salted, b"Client Key", "sha256").digest()
        binding = changes.get("c", base64.b64encode(self._gs2.encode()).decode())
        without_proof = f"c={binding},r={changes.get('r', fields['r'])}"
        signed = f"{self._bare},{challenge.decode()},{without_proof}".encode()
        signature = hmac.new(hashlib.sha256(key).digest(), signed, "sha256").digest()
        proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
        server_key = hmac.new(salted, b"Server Key", "sha256").digest()
        self.expected = b"v=" + base64.b64encode(hmac.new(server_key, signed, "sha256").digest())
        return f"{without_proof},p={changes.get('p', base64.b64encode(proof).decode())}".encode()


def test_the_example_of_rfc_7677() -> None:
    # req rfc7677/3-example
    client_first = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    nonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    first = scram.read_first(client_first)
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    challenge = scram.server_first(first, nonce, salt, 4096)
    assert challenge == b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    client_final = (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    final, kept = scram.read_final(client_final), scram.verifier("pencil", salt, 4096)
    assert scram.answers(first, challenge, final)
    assert scram.opens(first, challenge, final, kept)
    assert scram.server_final(first, challenge, final, kept) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert not scram.opens(first, challenge, final, scram.verifier("pencils", salt, 4096))
    asked = Asked("user", "pencil", nonce="rOprNGfwEbeRWgbNEkqO")
    assert (asked.first(), asked.final(challenge)) == (client_first, client_final)


def test_it_is_made_with_as_many_iterations_as_the_rfc_asks_for_at_least() -> None:
    # req rfc7677/4-iterations
    assert scram.ITERATIONS >= 4096


@pytest.mark.parametrize(
    "message",
    [
        b"", b"n", b"n,", b"n,,", b"x,,n=u,r=abc", b"p=tls-unique,,n=u,r=abc", b"n,,m=ext,n=u,r=abc", b"n,,n=u",
        b"n,,n=,r=abc", b"n,,n=u,r=", b"n,,n=u,r=a b", b"n,,n=u=2c,r=abc", b"n,,n=a=b,r=abc", b"n,a=other,n=u,r=abc",
        b"n,b=u,n=u,r=abc", b"n,,n=\xff,r=abc", b"n,,n=u\x00,r=abc", b"n,,n=" + b"u" * 400 + b",r=abc", b"n,,r=abc,n=u",
    ],
)  # packed, to be seen at a glance  # fmt: skip
def test_a_first_message_that_is_none_is_refused(message: bytes) -> None:
    # req rfc5802/6-p
    # req rfc5802/5.1-mandatory
    with pytest.raises(SaslError):
        scram.read_first(message)


@pytest.mark.parametrize("message", [b"n,,n=u,r=abc", b"y,,n=u,r=abc", b"n,a=u,n=u,r=abc", b"n,,n=u,r=abc,x=more"])
def test_a_first_message_may_say_that_binding_was_possible_and_hold_more(message: bytes) -> None:
    # req rfc5802/5.1-optional
    # req rfc5802/6-y
    assert scram.read_first(message).login == "u"


@pytest.mark.parametrize(
    "message",
    [b"", b"c=biws", b"c=biws,r=abc", b"r=abc,c=biws,p=AA==", b"c=!,r=abc,p=AA==", b"c=biws,r=abc,p=!", b"\xff",
     b"c=biws,r=abc,p=\xc3\xa4"],
)  # packed, to be seen at a glance  # fmt: skip
def test_a_final_message_that_is_none_is_refused(message: bytes) -> None:
    with pytest.raises(SaslError):
        scram.read_final(message)


def test_passwords_are_prepared_as_rfc_4013_says() -> None:
    # req rfc5802/2.2-saslprep
    assert scram.saslprep("I\u00adX") == "IX"
    assert scram.saslprep("\u00aa") == "a"
    assert scram.saslprep("\u2168") == "IX"
    assert scram.saslprep("a\u00a0b") == "a b"
    assert scram.saslprep("\u0007") == "\u0007"  # not allowed: left as it is, and so has to match as it is


def test_names_hold_commas_and_equal_signs_escaped() -> None:
    # req rfc5802/5.1-name
    assert scram.read_first(Asked("a,b=c", "x").first()).login == "a,b=c"


# With the store


@dataclass
class World:
    store: Store
    alice: Account
    auth: Authenticator
    slept: list[float]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    settings = replace(settings_for(tmp_path), imap=Imap(extensions="all"))
    async with opened(tmp_path) as (store, alice):
        auth = Authenticator(
            store, settings, limits=LoginLimits(lambda: 1000.0), hasher=cheap_hasher(), clock=lambda: 1000.0,
            sleep=sleep, iterations=FEW,
        )  # packed, to be seen at a glance  # fmt: skip
        yield World(store, alice, auth, slept)
        auth.close()


async def enter(auth: Authenticator, asked: Asked, peer: str = HERE, **changes: str) -> str | None:
    """The device of whoever logs in, once the server has proved itself too."""
    begun = await auth.scram_begin(asked.first(), peer=peer)
    found = await auth.scram_finish(begun, asked.final(begun.challenge, **changes))
    if found is None:
        return None
    identity, proof = found
    assert proof == asked.expected
    return identity.device


async def test_every_password_of_an_account_opens_and_tells_which_it_was(world: World) -> None:
    phone = await world.auth.add_generated(world.alice.id, "phone")
    await world.auth.add_given(world.alice.id, "desk", "correct hörse")
    for login in ("alice", "ALICE", world.alice.address):
        assert await enter(world.auth, Asked(login, phone)) == "phone"
        assert await enter(world.auth, Asked(login, phone.replace("-", ""))) == "phone"
        assert await enter(world.auth, Asked(login, "correct hörse", gs2="y,,")) == "desk"
    assert await enter(world.auth, Asked("alice", "wrong")) is None
    assert await world.auth.revoke(world.alice.id, "phone")
    assert await enter(world.auth, Asked("alice", phone)) is None
    assert await enter(world.auth, Asked("alice", "correct hörse")) == "desk"


@pytest.mark.parametrize(
    "changes", [{"r": "other"}, {"c": "eSws"}, {"p": ""}, {"p": "AAAA"}, {"p": base64.b64encode(bytes(32)).decode()}]
)
async def test_a_changed_final_message_opens_nothing(world: World, changes: dict[str, str]) -> None:
    # req rfc5802/7-nonce
    # req rfc5802/6-header
    await world.auth.add_given(world.alice.id, "desk", "secret")
    assert await enter(world.auth, Asked("alice", "secret"), **changes) is None
    assert await enter(world.auth, Asked("alice", "secret")) == "desk"


async def test_a_proof_cannot_be_used_twice(world: World) -> None:
    # req rfc5802/5.1-nonce
    await world.auth.add_given(world.alice.id, "desk", "secret")
    asked = Asked("alice", "secret")
    begun = await world.auth.scram_begin(asked.first(), peer=HERE)
    final = asked.final(begun.challenge)
    assert await world.auth.scram_finish(begun, final) is not None
    again = await world.auth.scram_begin(asked.first(), peer=HERE)
    assert await world.auth.scram_finish(again, final) is None


async def test_a_login_that_nobody_has_looks_like_one_that_somebody_has(world: World) -> None:
    # req rfc5802/9-enumeration
    await world.auth.add_given(world.alice.id, "desk", "secret")

    async def salt(login: str) -> bytes:
        begun = await world.auth.scram_begin(Asked(login, "x").first(), peer=HERE)
        return begun.challenge.partition(b",")[2]

    there, nobody = await salt("alice"), await salt("nobody")
    assert there != nobody
    assert len(there) == len(nobody)
    assert await salt("nobody") == nobody == await salt("NOBODY") == await salt(f"nobody@{support.DOMAIN}")
    assert await salt("alice") == there == await salt("ALICE") == await salt(world.alice.address)
    assert await enter(world.auth, Asked("nobody", "secret")) is None


async def test_wrong_ones_are_slowed_and_a_limit_is_told_as_such(world: World) -> None:
    await world.auth.add_given(world.alice.id, "desk", "secret")
    for _ in range(3):
        assert await enter(world.auth, Asked("alice", "wrong"), FAR) is None
    assert world.slept == sorted(world.slept)
    assert world.slept[-1] > world.slept[0] > 0
    with pytest.raises(LoginLimited):  # noqa: PT012 - one of these is the one too many
        for _ in range(200):
            await enter(world.auth, Asked("alice", "wrong"), FAR)
    with pytest.raises(LoginLimited):
        await world.auth.check("alice", "secret", peer=FAR)


async def test_a_wrong_proof_waits_its_whole_delay_however_long_it_took_to_make(tmp_path: Path) -> None:
    """Deriving the proof takes a client longer than the first delay."""
    now = [1000.0]
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    settings = replace(settings_for(tmp_path), imap=Imap(extensions="all"))
    async with opened(tmp_path) as (store, _):
        auth = Authenticator(store, settings, hasher=cheap_hasher(), clock=lambda: now[0], sleep=sleep, iterations=FEW)
        asked = Asked("alice", "wrong")
        begun = await auth.scram_begin(asked.first(), peer=FAR)
        now[0] += 60.0
        assert await auth.scram_finish(begun, asked.final(begun.challenge)) is None
        assert slept == [FIRST_DELAY]
        auth.close()


async def test_exchanges_begun_side_by_side_stay_within_the_limit(world: World) -> None:
    asked = [Asked("alice", "wrong") for _ in range(NETWORK_FAILURES + 1)]
    begun = [(each, await world.auth.scram_begin(each.first(), peer=FAR)) for each in asked]
    for each, exchange in begun[:-1]:
        assert await world.auth.scram_finish(exchange, each.final(exchange.challenge)) is None
    each, exchange = begun[-1]
    with pytest.raises(LoginLimited):
        await world.auth.scram_finish(exchange, each.final(exchange.challenge))


async def test_an_older_password_is_learned_at_its_next_plain_login(world: World) -> None:
    prepared = passwords.prepare_given("secret", cheap_hasher())
    await world.store.write(lambda tx: passwords.add(tx, world.alice.id, "old", prepared, 0))
    assert await enter(world.auth, Asked("alice", "secret")) is None
    assert await world.auth.check("alice", "secret", peer=HERE) is not None
    assert await enter(world.auth, Asked("alice", "secret")) == "old"


async def test_where_it_is_not_offered_nothing_is_kept_for_it(tmp_path: Path) -> None:
    # req rfc5802/9-stored
    assert [Imap(extensions=each).offers_scram for each in ("default", "all", ("IDLE",), (SCRAM.lower(),))] == [
        False, True, False, True,
    ]  # packed, to be seen at a glance  # fmt: skip
    async with opened(tmp_path) as (store, alice):
        auth = Authenticator(store, settings_for(tmp_path), hasher=cheap_hasher())
        await auth.add_given(alice.id, "desk", "secret")
        assert await auth.check("alice", "secret", peer=HERE) is not None
        assert store.read(lambda tx: passwords.scram_candidates(tx, alice.id, scram.ITERATIONS)) == []
        auth.close()


async def test_once_it_is_offered_no_more_what_was_kept_for_it_is_forgotten(tmp_path: Path) -> None:
    # req rfc5802/9-forgotten
    offering = replace(settings_for(tmp_path), imap=Imap(extensions="all"))
    async with opened(tmp_path) as (store, alice):

        async def kept(settings: Settings) -> int:
            auth = Authenticator(store, settings, hasher=cheap_hasher(), iterations=FEW)
            await auth.start()
            assert await auth.check("alice", "secret", peer=HERE) is not None
            auth.close()
            return len(store.read(lambda tx: passwords.scram_candidates(tx, alice.id, FEW)))

        first = Authenticator(store, offering, hasher=cheap_hasher(), iterations=FEW)
        await first.add_given(alice.id, "desk", "secret")
        first.close()
        assert [await kept(settings) for settings in (offering, settings_for(tmp_path), offering)] == [1, 0, 1]


# Over the wire


async def imap_login(client: Client, asked: Asked, *, initial: bool) -> bytes:
    """The tagged line; the server's proof has been looked at."""

    async def challenge() -> bytes:
        line = await client.line()
        assert line.startswith(b"+ "), line
        return base64.b64decode(line[2:])

    first = base64.b64encode(asked.first())
    if initial:
        client.send(b"a AUTHENTICATE SCRAM-SHA-256 " + first + b"\r\n")
    else:
        client.send(b"a AUTHENTICATE SCRAM-SHA-256\r\n")
        assert await challenge() == b""
        client.send(first + b"\r\n")
    client.send(base64.b64encode(asked.final(await challenge())) + b"\r\n")
    line = await client.line()
    if line.startswith(b"+ "):
        assert base64.b64decode(line[2:]) == asked.expected
        client.send(b"\r\n")
        line = await client.line()
    return line


@pytest.mark.parametrize("initial", [True, False])
async def test_a_login_over_imap(tmp_path: Path, initial: bool) -> None:
    # req rfc7677/3-name
    # req rfc5802/5-login
    settings = house_settings(tmp_path, imap=Imap(extensions="all"))
    async with open_house(tmp_path, ("ada",), settings=settings) as house:
        client = house.connect()
        assert b"AUTH=SCRAM-SHA-256" in (await client.greeted()).split()
        assert (await imap_login(client, Asked("ada", PASSWORD + "x"), initial=initial)).startswith(
            b"a NO [AUTHENTICATIONFAILED] "
        )
        assert (await imap_login(client, Asked("ada", PASSWORD), initial=initial)).startswith(b"a OK [CAPABILITY ")
        assert (await client.command("SELECT INBOX")).ok


async def test_what_goes_wrong_on_the_way_over_imap(tmp_path: Path) -> None:
    settings = house_settings(tmp_path, imap=Imap(extensions="all"))
    async with open_house(tmp_path, ("ada",), settings=settings) as house:
        client, asked = house.connect(), Asked("ada", PASSWORD)
        await client.greeted()
        first = base64.b64encode(asked.first())
        for said, status in (
            (b"a AUTHENTICATE SCRAM-SHA-256 bm9uc2Vuc2U=\r\n", b"NO"),
            (b"a AUTHENTICATE SCRAM-SHA-256 " + first + b"\r\n*\r\n", b"BAD"),
            (b"a AUTHENTICATE SCRAM-SHA-256 " + first + b"\r\n!\r\n", b"BAD"),
            (b"a AUTHENTICATE SCRAM-SHA-256 " + first + b"\r\nbm9uc2Vuc2U=\r\n", b"NO"),
            (b"a AUTHENTICATE SCRAM-SHA-256\r\nA2 LOGOUT\r\n", b"BAD"),
            (b"a AUTHENTICATE SCRAM-SHA-1\r\n", b"NO"),
        ):
            client.send(said)
            assert (await client.answer(b"a")).status == status, said
        client.send(b"a AUTHENTICATE SCRAM-SHA-256 " + first + b"\r\n")
        challenge = base64.b64decode((await client.line())[2:])
        client.send(base64.b64encode(asked.final(challenge)) + b"\r\n")
        assert (await client.line()).startswith(b"+ ")
        client.send(b"*\r\n")  # the client does not believe the server's proof
        assert (await client.answer(b"a")).status == b"BAD"
        assert (await client.command("SELECT INBOX")).status == b"BAD"


async def test_the_default_set_does_not_offer_it(tmp_path: Path) -> None:
    async with open_house(tmp_path, ("ada",)) as house:
        client = house.connect()
        assert b"SCRAM" not in await client.greeted()
        answer = await client.command("AUTHENTICATE SCRAM-SHA-256")
        assert (answer.status, answer.text.split(b"]")[0]) == (b"NO", b"[CANNOT")


async def smtp_login(say: Callable[[str], Awaitable[tuple[int, str]]], asked: Asked, *, initial: bool) -> int:
    first = base64.b64encode(asked.first()).decode()
    code, text = await say(f"AUTH SCRAM-SHA-256 {first}" if initial else "AUTH SCRAM-SHA-256")
    if not initial:
        assert (code, text) == (334, "")
        code, text = await say(first)
    assert code == 334
    code, text = await say(base64.b64encode(asked.final(base64.b64decode(text))).decode())
    if code == 334:
        assert base64.b64decode(text) == asked.expected
        code, text = await say("=" if initial else "")
    return code


@pytest.mark.parametrize("initial", [True, False])
async def test_a_login_over_smtp(tmp_path: Path, initial: bool) -> None:
    async with support.running(tmp_path, imap=Imap(extensions=("SASL-IR", SCRAM))) as server:
        client = aiosmtplib.SMTP(hostname="127.0.0.1", port=server.smtps, use_tls=True, tls_context=server.trust)
        await client.connect()
        hello = await client.ehlo()
        assert "AUTH SCRAM-SHA-256 PLAIN LOGIN" in hello.message

        async def say(line: str) -> tuple[int, str]:
            answer = await client.execute_command(line.encode())
            return answer.code, answer.message

        assert await smtp_login(say, Asked("alice", "wrong"), initial=initial) == 535
        assert await smtp_login(say, Asked("alice", support.PASSWORD), initial=initial) == 235
        assert (await client.execute_command(b"MAIL", f"FROM:<{support.ME}>".encode())).code == 250
        client.close()


async def test_submission_does_not_offer_it_where_imap_does_not(tmp_path: Path) -> None:
    async with support.running(tmp_path) as server:
        client = aiosmtplib.SMTP(hostname="127.0.0.1", port=server.smtps, use_tls=True, tls_context=server.trust)
        await client.connect()
        assert "SCRAM" not in (await client.ehlo()).message
        assert (await client.execute_command(b"AUTH SCRAM-SHA-256")).code == 504
        client.close()
