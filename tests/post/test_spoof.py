"""The spoof matrix: whoever is not the owner, however the mail looks, releases nothing, and the audit says why."""

import re
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

import pytest
from aiosmtplib import SMTP, SMTPResponseException

from agents.audit import Entry
from bridge.from_line import from_address, from_values
from bridge.post.identity import Doubt, Proof, Terms, aligned, prove
from bridge.submissions import Receipt
from tests.post.desk import AGENT, NOTES, SEND, Desk, Kept, Person, desk
from tests.post.outside import REAL, SIGNED, Dns, House, house, key_of, reply_to, signed

HOUR = 3600.0


async def ask(person: Person) -> None:
    await person.write(AGENT, "Notes from Tuesday", SEND, files={"notes.txt": NOTES})


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path / "home") as made:
        yield made


@dataclass(frozen=True, slots=True)
class Trick:
    """How an attacker (or an honest provider in a bad state) makes the answer, and what the audit calls it."""

    name: str
    make: Callable[[EmailMessage], bytes]
    rule: str


def added(field: str) -> Callable[[EmailMessage], bytes]:
    """A good answer with a field put on top of it afterwards."""
    return lambda out: field.encode() + b"\r\n" + signed(out)


def changed(old: bytes, new: bytes) -> Callable[[EmailMessage], bytes]:
    """A good answer, changed on its way."""

    def make(out: EmailMessage) -> bytes:
        raw = signed(out, "reject")
        assert old in raw
        return raw.replace(old, new)

    return make


def forged(sender: str, domain: str = "evil.example") -> Callable[[EmailMessage], bytes]:
    """An answer in another's name, signed by whoever wrote it."""
    return lambda out: key_of(domain).sign(reply_to(out, "approve", sender))


def claims(*fields: str) -> Callable[[EmailMessage], bytes]:
    """An unsigned answer that says of itself that it was found good."""
    return lambda out: "".join(f"{field}\r\n" for field in fields).encode() + reply_to(out, "approve")


def without(*names: str) -> Callable[[EmailMessage], bytes]:
    """Signed, but not these fields."""
    return lambda out: signed(out, names=tuple(name for name in SIGNED if name not in names))


def tagged(pattern: bytes, new: bytes) -> Callable[[EmailMessage], bytes]:
    """A good answer whose signature was rewritten."""
    return lambda out: re.sub(pattern, new, signed(out), count=1)


def tokenless(out: EmailMessage) -> bytes:
    """From the user, signed, about the request, but without its token."""
    plain = {"To": "post@example.net", "In-Reply-To": "", "References": ""}
    return key_of("example.com").sign(reply_to(out, "approve", headers=plain))


def unsigned_from(out: EmailMessage) -> bytes:
    """The signature does not cover From: the library of honest signers refuses that, so it is cut out of h=."""
    return re.sub(rb"from : ", b"", signed(out), count=1)


TRICKS = [
    Trick("token alone", lambda out: reply_to(out, "approve"), "unsigned"),
    Trick("token alone, from anybody", lambda out: reply_to(out, "approve", "eve@evil.example"), "from"),
    Trick("DKIM alone", tokenless, "no-token"),
    Trick("another domain signs", forged(REAL), "other-domain"),
    Trick("another domain in its own name", forged("ada@evil.example"), "from"),
    Trick("a domain below signs for the one above", forged(REAL, "mail.example.com"), "other-domain"),
    Trick("a name that ends alike", forged(REAL, "notexample.com"), "other-domain"),
    Trick("the address as a display name", forged(f'"{REAL}" <eve@evil.example>'), "from"),
    Trick("the address as a comment", forged(f"eve@evil.example ({REAL})"), "from"),
    Trick("two addresses in one From", forged(f"{REAL}, eve@evil.example"), "from-unclear"),
    Trick("a group", forged(f"Ada: {REAL};"), "from-unclear"),
    Trick("two From fields, ours first", added(f"From: {REAL}"), "from-fields"),
    Trick("two From fields, the other first", added("From: eve@evil.example"), "from-fields"),
    Trick("a From field that hides a space", added(f"From : {REAL}"), "from-fields"),
    Trick("a second To", added("To: post@example.net"), "doubled"),
    Trick("a second Subject", added("Subject: other"), "doubled"),
    Trick("a second In-Reply-To", added("In-Reply-To: <other@example.net>"), "doubled"),
    Trick("a second Content-Type", added("Content-Type: text/html"), "doubled"),
    Trick("l=", lambda out: signed(out, length=True), "length"),
    Trick("text appended under l=", lambda out: signed(out, length=True) + b"more\r\n", "length"),
    Trick("the word changed", changed(b"reject", b"approve"), "signature"),
    Trick("the date changed", changed(b"Date: ", b"Date:  Tue, 1 Dec 2026 00:00:00 +0000 "), "signature"),
    Trick("the signature cut", tagged(rb"b=[A-Za-z0-9+/]{4}", b"b=AAAA"), "signature"),
    Trick("From not signed", unsigned_from, "header-unsigned"),
    Trick("To not signed", without("to"), "header-unsigned"),
    Trick("Subject not signed", without("subject"), "header-unsigned"),
    Trick("Date not signed", without("date"), "header-unsigned"),
    Trick("Message-ID not signed", without("message-id"), "header-unsigned"),
    Trick("In-Reply-To not signed", without("in-reply-to"), "header-unsigned"),
    Trick("sha1", tagged(rb"a=rsa-sha256", b"a=rsa-sha1"), "weak"),
    Trick("no such key", tagged(rb"s=s1;", b"s=s9;"), "signature"),
    Trick("signed long ago", lambda out: signed(out, at=time.time() - 30 * HOUR), "stale"),
    Trick("signed in the future", lambda out: signed(out, at=time.time() + 5 * HOUR), "early"),
    Trick("an expired signature", tagged(rb"t=(\d+);", rb"t=\1; x=1700000000;"), "expired"),
    Trick(
        "a forged Authentication-Results",
        claims("Authentication-Results: mx.example.net; dkim=pass header.d=example.com; spf=pass; dmarc=pass"),
        "unsigned",
    ),
    Trick(
        "ARC from strangers",
        claims(
            "ARC-Seal: i=1; a=rsa-sha256; cv=none; d=evil.example; s=s1; t=1796000000; b=AAAA",
            "ARC-Message-Signature: i=1; a=rsa-sha256; d=evil.example; s=s1; h=from:to; bh=AAAA; b=AAAA",
            "ARC-Authentication-Results: i=1; mx.evil.example; dkim=pass header.d=example.com; dmarc=pass",
        ),
        "unsigned",
    ),
    Trick("Received-SPF", claims("Received-SPF: pass (example.com)"), "unsigned"),
    Trick("nonsense for a signature", claims("DKIM-Signature: v=1; nonsense"), "malformed-signature"),
    Trick("many signatures of nobody", claims(*["DKIM-Signature: v=1; a=rsa-sha256; d=example.com"] * 40),
          "malformed-signature"),
    Trick("bare line ends", lambda out: signed(out).replace(b"\r\n", b"\n"), "malformed"),
    Trick("a machine", lambda out: key_of("example.com").sign(
        reply_to(out, "approve", headers={"Auto-Submitted": "auto-replied"})), "machine"),
]  # packed, to be seen at a glance  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.name)
async def test_a_trick_releases_nothing_is_not_answered_and_is_explained(at: House, trick: Trick) -> None:
    await ask(at.person)
    out = await at.letter()
    at.dns.knows(key_of("mail.example.com"), key_of("notexample.com"))
    await at.arrives(trick.make(out))
    refused = at.trail("outside.refused")
    assert [entry.facts["rule"] for entry in refused] == [trick.rule]
    assert refused[0].facts["why"]
    assert at.trail("approval.") == []
    assert at.released == []
    assert len(at.person.mails("Action")) == 1
    assert len(at.out()) == 1, "whoever is not proven gets no answer"
    told = [kept for kept in at.person.mails() if "was not taken" in kept.message["Subject"]]
    assert len(told) == (trick.rule != "machine"), "the user hears of it at home"


async def test_the_dns_is_down_and_the_gate_stays_closed(at: House) -> None:
    await ask(at.person)
    out = await at.letter()
    at.dns.down = True
    await at.arrives(signed(out))
    assert [entry.facts["rule"] for entry in at.trail("outside.refused")] == ["dns"]
    assert at.released == []
    at.dns.down = False
    await at.arrives(signed(out))
    await at.person.mail("Re: Notes from Tuesday")
    await at.desk.settled()
    assert at.released == [("maya@example.org",)]


async def test_a_replay_is_refused_before_and_after_the_decision(at: House) -> None:
    await ask(at.person)
    out = await at.letter()
    near = signed(out, "approve?")
    await at.arrives(near)
    await at.arrives(near)
    yes = signed(out)
    await at.arrives(yes)
    await at.person.mail("Re: Notes from Tuesday")
    for _ in range(3):
        await at.arrives(yes)
        await at.arrives(b"Received: from elsewhere\r\n" + yes)
    assert {entry.facts["rule"] for entry in at.trail("outside.refused")} == {"replay"}
    assert len(at.trail("approval.approved")) == 1
    assert at.released == [("maya@example.org",)]


async def test_a_replay_for_another_request_is_bound_to_the_first(at: House) -> None:
    """The token stands in signed fields: it cannot be exchanged."""
    await ask(at.person)
    first = await at.letter()
    await at.person.write(AGENT, "Second", SEND.replace("maya", "tom"), files={"notes.txt": NOTES})
    second = await at.letter(2)
    raw = signed(first)
    swapped = raw.replace(str(first["Reply-To"].addresses[0]).encode(), str(second["Reply-To"].addresses[0]).encode())
    await at.arrives(swapped)
    both = key_of("example.com").sign(reply_to(first, "approve", headers={"To": str(second["Reply-To"])}))
    await at.arrives(both)
    assert [entry.facts["rule"] for entry in at.trail("outside.refused")] == ["signature", "conflict"]
    assert at.released == []


async def test_one_good_signature_among_bad_ones_is_enough(at: House) -> None:
    """A list or a forwarder adds its own: every signature is tried."""
    await ask(at.person)
    out = await at.letter()
    raw = key_of("evil.example").sign(signed(out), names=("from", "to", "subject"))
    await at.arrives(b"DKIM-Signature: v=1; broken\r\n" + raw)
    await at.person.mail("Re: Notes from Tuesday")
    await at.desk.settled()
    assert at.released == [("maya@example.org",)]


async def test_the_token_at_home_opens_nothing_outside_and_the_other_way_round(at: House) -> None:
    await ask(at.person)
    out, at_home = await at.letter(), await at.person.mail("Approve?")
    home_token = str(at_home.message["Reply-To"].addresses[0].addr_spec).partition("+")[2].partition("@")[0]
    plain = {"To": f"post+{home_token}@example.net", "In-Reply-To": "", "References": ""}
    await at.arrives(key_of("example.com").sign(reply_to(out, "approve", headers=plain)))
    outside_token = str(out["Reply-To"].addresses[0].addr_spec).partition("+")[2].partition("@")[0]
    await at.person.write(f"action+{outside_token}@postroom.internal", "Re: it", "approve")
    told = await at.person.mail("Re: it")
    assert "could not be matched" in told.text
    assert [entry.facts["rule"] for entry in at.trail("outside.refused")] == ["no-token"]
    assert at.released == []


async def test_a_trick_with_a_token_is_told_at_home_and_a_flood_is_not(at: House) -> None:
    await ask(at.person)
    out = await at.letter()
    for number in range(8):
        await at.arrives(reply_to(out, f"approve {number}"))
    told = [kept for kept in at.person.mails() if "was not taken" in kept.message["Subject"]]
    assert len(told) == 3
    assert "is not signed" in told[0].text
    assert len(at.trail("outside.refused")) == 8


async def test_mail_of_strangers_without_a_token_is_none_of_our_business(at: House) -> None:
    await at.arrives(b"From: shop@example.org\r\nTo: ada@example.com\r\nSubject: approve\r\n\r\napprove\r\n")
    await at.arrives(b"\x00\xff\r\nnot a mail")
    await at.arrives(b"")
    assert at.trail("outside.") == []


# --- the local road


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Desk]:
    async with desk(tmp_path / "home") as made:
        yield made


async def waiting(person: Person) -> Kept:
    await ask(person)
    return await person.mail("Approve?")


async def test_another_login_decides_nothing_with_token_code_and_message_id(home: Desk) -> None:
    ada, eve = await home.person("ada"), await home.person("eve")
    request = await waiting(ada)
    await eve.reply(request, "approve")
    await eve.reply(request, "approve", to=AGENT)
    told = await eve.mail("Re: Approve?")
    assert "could not be matched" in told.text
    await eve.settled()
    assert home.sink.messages == []
    assert len(ada.mails("Action")) == 1
    account = ada.identity.account
    trail = home.app.store.read(lambda tx: home.app.runtime.trail(tx, account))
    assert [entry for entry in trail if entry.what.startswith("approval.")] == []
    (tried,) = refused(eve, "decision.refused")
    assert tried.facts["rule"] == "no-request"
    assert (tried.facts["by"], tried.facts["via"]) == (eve.address, "laptop over SMTP")
    assert refused(ada, "decision.refused") == []


async def test_an_answer_to_two_requests_at_once_is_in_the_trail_of_both(home: Desk) -> None:
    ada = await home.person("ada")
    first = await waiting(ada)
    await ada.write(AGENT, "Second", SEND.replace("maya", "tom"), files={"notes.txt": NOTES})
    second = await ada.mail("Approve?", nth=2)
    await ada.reply(first, "approve", to=str(second.message["Reply-To"].addresses[0].addr_spec))
    assert "could not be matched" in (await ada.mail("Re: Approve?")).text
    (tried,) = refused(ada, "decision.refused")
    assert tried.facts["rule"] == "conflict"
    assert home.sink.messages == []


async def test_a_mail_in_anothers_name_is_refused_at_the_door_and_in_the_trail(home: Desk) -> None:
    """MAIL FROM, the From field, and what only looks like one's own: by real SMTP, under one's own login."""
    ada = await home.person("ada")
    password = await home.app.auth.add_generated(ada.identity.account, "phone")
    ports = home.app.ports
    assert ports is not None
    token = str((await waiting(ada)).message["Reply-To"].addresses[0].addr_spec)
    own = f"From: {ada.address}\r\n".encode()
    forged = {
        "MAIL FROM": ("eve@postroom.internal", own),
        "another From": (ada.address, b"From: eve@postroom.internal\r\n"),
        "two From fields": (ada.address, own * 2),
        "two addresses": (ada.address, f"From: {ada.address}, eve@postroom.internal\r\n".encode()),
        "a display name": (ada.address, f'From: "{ada.address}" <eve@evil.example>\r\n'.encode()),
        "an encoded name": (ada.address, b"From: =?utf-8?q?ada=40postroom.internal?= <eve@evil.example>\r\n"),
        "no From": (ada.address, b"Subject: x\r\n"),
    }
    client = SMTP(hostname="127.0.0.1", port=ports.smtps, use_tls=True, validate_certs=False, timeout=20)
    async with client:
        await client.login("ada", password)
        for name, (sender, head) in forged.items():
            with pytest.raises(SMTPResponseException) as told:
                await client.sendmail(sender, [token], head + b"To: x\r\n\r\napprove\r\n")
            assert told.value.code == 550, name
    entries = refused(ada, "submission.refused")
    assert [entry.facts["rule"] for entry in entries] == ["sender"] * len(forged)
    assert {(entry.facts["by"], entry.facts["via"]) for entry in entries} == {(ada.address, "phone over SMTP")}
    assert all(entry.facts["why"] for entry in entries)
    assert len(ada.mails("Action")) == 1
    assert home.sink.messages == []


def refused(person: Person, what: str) -> list[Entry]:
    app, account = person.desk.app, person.identity.account
    return [entry for entry in app.store.read(lambda tx: app.runtime.trail(tx, account)) if entry.what == what]


async def test_mail_of_another_user_with_the_owners_from_is_theirs_not_the_owners(home: Desk) -> None:
    """SMTP refuses such a From; even if it got in, whose mail it is comes from the login."""
    ada, eve = await home.person("ada"), await home.person("eve")
    request = await waiting(ada)
    mail = ada.compose(str(request.message["Reply-To"].addresses[0].addr_spec), "Re", "approve", None, request)
    assert isinstance(await eve.submit(mail), Receipt)
    await eve.settled()
    assert home.sink.messages == []
    assert len(ada.mails("Action")) == 1


# --- the proof itself


def now() -> int:
    return time.time_ns() // 1_000_000


PLAIN = (
    b"From: Ada <ada@example.com>\r\nTo: post+x@example.net\r\nDate: Mon, 30 Nov 2026 02:00:00 +0000\r\n"
    b"Message-ID: <1@example.com>\r\nSubject: Re: it\r\n\r\napprove\r\n"
)


def tried(raw: bytes, **more: float) -> Proof | Doubt:
    return prove(raw, Terms((REAL,), more.get("hours", 24), now()), Dns().knows(key_of("example.com")))


def test_a_good_mail_is_proven_whatever_the_case_of_its_address() -> None:
    assert isinstance(tried(key_of("example.com").sign(PLAIN)), Proof)
    assert isinstance(tried(key_of("example.com").sign(PLAIN.replace(b"ada@example", b"Ada@Example"))), Proof)


@pytest.mark.parametrize(
    ("of", "by", "speaks"),
    [
        ("example.com", "example.com", True),
        ("mail.example.com", "example.com", True),
        ("example.com", "mail.example.com", False),
        ("example.com", "com", False),
        ("notexample.com", "example.com", False),
        ("example.com", "", False),
    ],
)
def test_which_domain_speaks_for_which(of: str, by: str, speaks: bool) -> None:
    assert aligned(of, by) is speaks


MIXED = PLAIN.replace(
    b"\r\n\r\napprove\r\n",
    b'\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary="b1"\r\n\r\n'
    b"--b1\r\nContent-Type: text/plain\r\n\r\nno\r\n--zz\r\n\r\napprove\r\n--zz--\r\n--b1--\r\n",
)
NO_TYPE = tuple(name for name in SIGNED if name != "content-type")


def test_an_unsigned_content_type_must_be_confirmed_by_the_body() -> None:
    raw = key_of("example.com").sign(MIXED, names=NO_TYPE)
    assert isinstance(tried(raw), Proof)
    for new in (b'boundary="zz"', b'boundary="b1"; x="b2'):
        other = tried(raw.replace(b'boundary="b1"', new))
        assert isinstance(other, Doubt) or new.startswith(b'boundary="b1"')
    single = tried(raw.replace(b'multipart/alternative; boundary="b1"', b"text/plain"))
    assert isinstance(single, Doubt)
    assert single.name == "framing"


def test_a_large_mail_is_left_alone() -> None:
    found = tried(PLAIN + b"x" * (5 * 1024 * 1024))
    assert isinstance(found, Doubt)
    assert found.name == "too-large"


@pytest.mark.parametrize("cut", range(0, 900, 23))
def test_any_cut_of_a_signed_mail_is_a_doubt_and_never_an_error(cut: int) -> None:
    raw = key_of("example.com").sign(PLAIN)
    if cut < len(raw) - 2:
        assert isinstance(tried(raw[:cut]), Doubt)
        assert isinstance(tried(raw[:cut] + b"\xff" + raw[cut + 1 :]), Doubt | Proof)


@pytest.mark.parametrize("name", ["From", "FROM", "from"])
def test_every_spelling_of_from_is_counted(name: str) -> None:
    assert from_values(f"{name}: a@b.example\r\n".encode()) == [" a@b.example"]
    assert from_address(" a@b.example") == "a@b.example"
