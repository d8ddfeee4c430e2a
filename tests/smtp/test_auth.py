"""Authenticator and passwords on a real store: who gets in, what is remembered, what is told."""

import asyncio
import re
import sqlite3
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bridge import passwords, sql
from bridge.auth import REMEMBER_SECONDS, Authenticator
from bridge.net.limits import NETWORK_FAILURES, LoginLimited, LoginLimits
from bridge.passwords import BadPassword
from mailstore import accounts
from mailstore.errors import AlreadyExists
from mailstore.model import Account
from mailstore.store import Store
from tests.smtp.support import DOMAIN, ME, cheap_hasher, opened, settings_for

HERE = "127.0.0.1"


@dataclass
class CountingHasher:
    """argon2, cheap, and counted; `gate` makes a check wait."""

    verified: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    gate: threading.Event | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def hash(self, password: str) -> str:
        return cheap_hasher().hash(password)

    def verify(self, hash: str, password: str) -> bool:
        with self.lock:
            self.verified.append(hash)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        if self.gate is not None:
            assert self.gate.wait(20)
        with self.lock:
            self.at_once -= 1
        return cheap_hasher().verify(hash, password)


@dataclass
class World:
    """A store with alice, an Authenticator, and the time and sleeps in the test's hands."""

    store: Store
    alice: Account
    auth: Authenticator
    hasher: CountingHasher
    slept: list[float]
    now: list[float]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    slept: list[float] = []
    now = [1000.0]
    hasher = CountingHasher()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with opened(tmp_path) as (store, alice):
        limits = LoginLimits(lambda: now[0])
        auth = Authenticator(
            store, settings_for(tmp_path), limits=limits, hasher=hasher, clock=lambda: now[0], sleep=sleep
        )
        yield World(store, alice, auth, hasher, slept, now)
        auth.close()


def contents(folder: Path) -> bytes:
    """All bytes of a folder's files."""
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())


async def test_a_generated_password_is_readable_and_opens(world: World) -> None:
    password = await world.auth.add_generated(world.alice.id, "Thunderbird on the laptop")
    assert [len(group) for group in password.split("-")] == [4] * 5
    assert not set(password) & set("il1o0")
    for typed in (password, password.upper(), password.replace("-", ""), password.replace("-", " ")):
        identity = await world.auth.check("alice", typed, peer=HERE)
        assert identity is not None
        assert identity.account == world.alice.id
        assert identity.address == ME
        assert identity.device == "Thunderbird on the laptop"


async def test_a_chosen_password_is_taken_as_it_is(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "Pa-ss wörd")
    assert await world.auth.check("alice", "Pa-ss wörd", peer=HERE)
    assert await world.auth.check("alice", "Pa-ss wo\u0308rd", peer=HERE)
    assert await world.auth.check("alice", "pa-ss wörd", peer=HERE) is None
    assert await world.auth.check("alice", "Passwörd", peer=HERE) is None


async def test_the_data_folder_holds_no_password(world: World, tmp_path: Path) -> None:
    password = await world.auth.add_generated(world.alice.id, "phone")
    await world.auth.add_given(world.alice.id, "mine", "sesame-open")
    held = contents(tmp_path)
    for secret in (password, password.replace("-", ""), "sesame-open"):
        assert secret.encode() not in held
    assert b"$argon2id$" in held


async def test_two_devices_two_passwords_and_one_can_be_revoked(world: World) -> None:
    phone = await world.auth.add_generated(world.alice.id, "phone")
    laptop = await world.auth.add_generated(world.alice.id, "laptop")
    for password, device in ((phone, "phone"), (laptop, "laptop")):
        identity = await world.auth.check("alice", password, peer=HERE)
        assert identity is not None
        assert identity.device == device
    assert await world.auth.revoke(world.alice.id, "phone")
    assert not await world.auth.revoke(world.alice.id, "phone")
    assert await world.auth.check("alice", phone, peer=HERE) is None
    assert await world.auth.check("alice", laptop, peer=HERE) is not None
    listed = world.store.read(lambda tx: passwords.all_of(tx, world.alice.id))
    assert [(row.label, row.generated) for row in listed] == [("laptop", True)]


async def test_a_password_revoked_behind_our_back_stops_counting_at_once(world: World) -> None:
    """The row is looked at every time, whatever is remembered."""
    phone = await world.auth.add_generated(world.alice.id, "phone")
    assert await world.auth.check("alice", phone, peer=HERE)
    await world.store.write(lambda tx: passwords.revoke(tx, world.alice.id, "phone"))
    assert await world.auth.check("alice", phone, peer=HERE) is None


async def test_a_removed_account_does_not_get_in(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "sesame")
    assert await world.auth.check("alice", "sesame", peer=HERE)
    await world.store.write(lambda tx: accounts.remove(tx, world.alice.id))
    assert await world.auth.check("alice", "sesame", peer=HERE) is None


async def test_a_password_of_one_account_opens_no_other(world: World) -> None:
    bob = await world.store.write(lambda tx: accounts.create(tx, "bob", f"bob@{DOMAIN}", []))
    password = await world.auth.add_generated(bob.id, "phone")
    await world.auth.add_given(bob.id, "mine", "bob's own")
    for secret in (password, "bob's own"):
        assert await world.auth.check("alice", secret, peer=HERE) is None
        identity = await world.auth.check(f"BOB@{DOMAIN.upper()}", secret, peer=HERE)
        assert identity is not None
        assert identity.account == bob.id


async def test_a_right_password_is_checked_once_in_ten_minutes(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "sesame")
    for _ in range(5):
        assert await world.auth.check("alice", "sesame", peer=HERE)
    assert len(world.hasher.verified) == 1
    world.now[0] += REMEMBER_SECONDS + 1
    assert await world.auth.check("alice", "sesame", peer=HERE)
    assert len(world.hasher.verified) == 2
    assert world.slept == []


async def test_many_connections_at_once_cost_one_check(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "sesame")
    found = await asyncio.gather(*(world.auth.check("alice", "sesame", peer=HERE) for _ in range(10)))
    assert all(found)
    assert len(world.hasher.verified) == 1


async def test_two_checks_at_once_and_a_bounded_queue(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "sesame")
    world.hasher.gate = threading.Event()
    tasks = [asyncio.create_task(world.auth.check("alice", f"guess{n}", peer=HERE)) for n in range(80)]
    done, _ = await asyncio.wait(tasks, timeout=20, return_when=asyncio.FIRST_COMPLETED)
    assert all(isinstance(task.exception(), LoginLimited) for task in done)
    world.hasher.gate.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert world.hasher.most_at_once <= 2
    assert results.count(None) == 64
    assert sum(isinstance(result, LoginLimited) for result in results) == 16


async def test_an_unknown_user_costs_what_a_known_one_costs(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "sesame")
    for login in ("alice", "nobody", f"nobody@{DOMAIN}", "alice@elsewhere.test", ""):
        world.hasher.verified.clear()
        assert await world.auth.check(login, "wrong", peer=HERE) is None
        assert len(world.hasher.verified) == 1, login


async def test_the_answer_to_a_wrong_password_takes_the_same_time_however_long_the_check_took(world: World) -> None:
    await world.auth.check("alice", "wrong", peer=HERE)
    await world.auth.check("nobody", "wrong", peer=HERE)
    assert world.slept == [0.5, 0.5]


async def test_the_log_tells_of_a_wrong_login_and_holds_nothing_that_was_typed(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    # req rfc9051/11.7-report
    await world.auth.check(f"ALICE@{DOMAIN}", "wrong-sesame", peer="192.0.2.7")
    await world.auth.check("sesame-in-the-wrong-field", "", peer=HERE)
    assert [record.getMessage() for record in caplog.records] == [
        "wrong password for alice from 192.0.2.7",
        f"wrong password for nobody here from {HERE}",
    ]
    assert "sesame" not in caplog.text


async def test_auth_05_wrong_five_times_is_slowed_and_a_right_one_still_gets_in(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "sesame")
    for _ in range(5):
        assert await world.auth.check("alice", "wrong", peer=HERE) is None
    assert world.slept == [0.5, 1.0, 2.0, 2.0, 2.0]
    assert await world.auth.check("alice", "sesame", peer=HERE)
    assert len(world.slept) == 5


async def test_auth_05_from_the_network_there_is_a_limit_and_loopback_is_free_of_it(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "sesame")
    for attempt in range(NETWORK_FAILURES):
        assert await world.auth.check("alice", f"wrong{attempt}", peer="192.0.2.7") is None
    with pytest.raises(LoginLimited):
        await world.auth.check("alice", "sesame", peer="192.0.2.7")
    assert await world.auth.check("alice", "sesame", peer=HERE)


async def test_labels_are_unique_and_printable(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "one")
    with pytest.raises(AlreadyExists):
        await world.auth.add_given(world.alice.id, " mine ", "two")
    await world.auth.add_given(world.alice.id, "mine", "two", replace=True)
    assert await world.auth.check("alice", "one", peer=HERE) is None
    assert await world.auth.check("alice", "two", peer=HERE)
    for label in ("", "  ", "x" * 65, "a\x07b"):
        with pytest.raises(BadPassword):
            await world.auth.add_generated(world.alice.id, label)
    for password in ("", "a\0b", "x" * 1025):
        with pytest.raises(BadPassword):
            await world.auth.add_given(world.alice.id, "other", password)


async def test_the_last_use_is_noted_at_most_once_an_hour(world: World) -> None:
    await world.auth.add_given(world.alice.id, "mine", "sesame")
    before = world.store.read(lambda tx: passwords.all_of(tx, world.alice.id))[0]
    assert before.used is None
    await world.auth.check("alice", "sesame", peer=HERE)
    used = world.store.read(lambda tx: passwords.all_of(tx, world.alice.id))[0].used
    assert used is not None
    assert used >= before.created
    world.now[0] += REMEMBER_SECONDS + 1
    await world.auth.check("alice", "sesame", peer=HERE)
    assert world.store.read(lambda tx: passwords.all_of(tx, world.alice.id))[0].used == used


def test_the_real_hasher_is_argon2id_with_64_mebibytes() -> None:
    hashed = passwords.default_hasher().hash("x")
    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,")


def test_generated_passwords_differ() -> None:
    assert len({passwords.generate() for _ in range(1000)}) == 1000


def test_the_schema_is_what_the_migrations_make() -> None:
    folder = sql.series().folder

    def shape(*scripts: str) -> list[tuple[str, str]]:
        connection = sqlite3.connect(":memory:")
        for script in scripts:
            connection.executescript(script)
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
        connection.close()
        return [(name, re.sub(r"\s*([(),]|\s)\s*", r"\1", text)) for name, text in rows]

    migrations = sorted(file.name for file in folder.iterdir() if file.name[:4].isdigit())
    texts = [(folder / name).read_text(encoding="utf-8") for name in migrations]
    assert shape(*texts) == shape((folder / "schema.sql").read_text(encoding="utf-8"))
