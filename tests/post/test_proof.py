"""Whose mail it is, by its signature: every honest way of signing is proven, every other one is a doubt with a name."""

import re
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import dkim
import pytest
from dns import exception, resolver
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.post.identity import Doubt, KeyUnknown, Proof, Terms, dns_txt, prove
from tests.post.outside import REAL, SIGNED, Dns, Key, key_of

PLAIN = (
    b"From: Ada <ada@example.com>\r\nTo: post+x@example.net\r\nDate: Mon, 30 Nov 2026 02:00:00 +0000\r\n"
    b"Message-ID: <1@example.com>\r\nSubject: Re: it\r\n\r\napprove\r\n"
)
HOUR = 3600.0


def tried(raw: bytes, dns: Dns | None = None, allowed: str = REAL) -> Proof | Doubt:
    terms = Terms((allowed,), 24, time.time_ns() // 1_000_000)
    return prove(raw, terms, dns or Dns().knows(key_of("example.com")))


def doubt(raw: bytes, dns: Dns | None = None, allowed: str = REAL) -> str:
    found = tried(raw, dns, allowed)
    assert isinstance(found, Doubt), found
    return found.name


def signed(raw: bytes = PLAIN, domain: str = "example.com", **more: Any) -> bytes:
    return key_of(domain).sign(raw, **more)


def by_hand(raw: bytes, canon: tuple[bytes, bytes], names: list[bytes], **tags: bytes) -> bytes:
    """Signed with any canonicalisation and list of fields, and with tags that honest signers do not write."""
    made = dkim.DKIM(raw)
    with patch("dkim.DKIM.gen_header", _with(tags, dkim.DKIM.gen_header)):
        key = key_of("example.com")
        field: bytes = made.sign(b"s1", b"example.com", key.private, canonicalize=canon, include_headers=names)
    return field + raw


def _with(tags: dict[str, bytes], gen: Callable[..., bytes]) -> Callable[..., bytes]:
    def made(self: Any, fields: list[tuple[bytes, bytes]], *rest: Any, **more: Any) -> bytes:
        given = {name.encode(): value for name, value in tags.items()}
        fields[:] = [*given.items(), *((name, value) for name, value in fields if name not in given)]
        return gen(self, fields, *rest, **more)

    return made


ALL = [b"from", b"to", b"date", b"message-id", b"subject"]


@pytest.mark.parametrize("header", [b"relaxed", b"simple"])
@pytest.mark.parametrize("body", [b"relaxed", b"simple"])
def test_every_canonicalisation_is_read(header: bytes, body: bytes) -> None:
    raw = by_hand(PLAIN, (header, body), ALL)
    assert isinstance(tried(raw), Proof)
    assert doubt(raw.replace(b"approve", b"approved")) == "signature"
    spaced = tried(raw.replace(b"Subject: Re: it", b"Subject:  Re:   it"))
    assert isinstance(spaced, Proof if header == b"relaxed" else Doubt)
    trailing = tried(raw.replace(b"approve\r\n", b"approve \r\n\r\n\r\n"))
    assert isinstance(trailing, Proof if body == b"relaxed" else Doubt)


def test_fields_signed_more_often_than_they_are_there_cannot_be_added() -> None:
    """Oversigning: a field that is not there is signed as not there."""
    over = [*ALL, b"from", b"to", b"subject", b"cc", b"reply-to", b"sender", b"x-other"]
    raw = by_hand(PLAIN, (b"relaxed", b"relaxed"), over)
    assert isinstance(tried(raw), Proof)
    assert doubt(b"X-Other: 1\r\n" + raw) == "signature"
    assert doubt(b"Cc: eve@evil.example\r\n" + raw) == "signature"
    assert doubt(b"Sender: eve@evil.example\r\n" + raw) == "signature"
    assert doubt(b"From: eve@evil.example\r\n" + raw) == "from-fields"


@pytest.mark.parametrize(
    "field",
    [
        b"Sender: eve@evil.example",
        b"Resent-From: eve@evil.example\r\nResent-To: post+x@example.net",
        b"Reply-To: eve@evil.example",
        b"Return-Path: <eve@evil.example>",
        b"X-Original-From: eve@evil.example",
        b"Received: from evil.example by mx.example.net",
    ],
)
def test_fields_of_the_way_change_nothing_about_whose_mail_it_is(field: bytes) -> None:
    """What the user signed stays theirs, whoever passed it on: its token and its request are signed with it."""
    found = tried(field + b"\r\n" + signed())
    assert isinstance(found, Proof)
    assert found.address == REAL
    twice = tried(b"Sender: a@evil.example\r\nSender: b@evil.example\r\n" + signed())
    assert isinstance(twice, Doubt)


@pytest.mark.parametrize("good", [0, 1, 2])
def test_one_signature_of_several_is_enough_wherever_it_stands(good: int) -> None:
    bad = [
        b"DKIM-Signature: v=1; a=rsa-sha256; d=evil.example; s=s1; h=from; bh=AAAA; b=AAAA\r\n",
        b"DKIM-Signature: v=1; nonsense\r\n",
    ]
    whole = signed()
    mine = whole[: len(whole) - len(PLAIN)]
    fields = [*bad[:good], mine, *bad[good:]]
    assert isinstance(tried(b"".join(fields) + PLAIN), Proof)


def test_of_the_first_eight_signatures_only() -> None:
    """More are never looked up: somebody else's mail must not cost a lookup for each of a thousand."""
    whole, asked = signed(), []
    bad = re.sub(rb"bh=....", b"bh=AAAA", whole[: len(whole) - len(PLAIN)])

    def lookup(name: bytes, timeout: float) -> bytes | None:
        asked.append(name)
        return key_of("example.com").record

    raw = bad * 20 + whole
    found = prove(raw, Terms((REAL,), 24, time.time_ns() // 1_000_000), lookup)
    assert isinstance(found, Doubt)
    assert len(asked) <= 8


@pytest.mark.parametrize(
    "other",
    [
        lambda raw: re.sub(rb"(;\s+b=)", rb"\1AAAA", raw, count=1),
        lambda raw: raw.replace(b"; b=", b";  b=").replace(b"Subject: Re: it", b"Subject:   Re:  it"),
        lambda raw: b"Received: from elsewhere\r\nX-Spam: no\r\n" + raw,
        lambda raw: raw.replace(b"approve\r\n", b"approve  \r\n\r\n"),
        lambda raw: raw[: len(raw) - len(PLAIN)] + signed(at=time.time() - HOUR),
        lambda raw: by_hand(PLAIN, (b"relaxed", b"simple"), ALL),
    ],
    ids=[
        "zeros before the signature",
        "white space",
        "other fields",
        "space at ends",
        "signed twice",
        "signed otherwise",
    ],
)
def test_the_same_mail_is_the_same_however_its_signature_is_written(other: Callable[[bytes], bytes]) -> None:
    """A signature counts once: whoever has a copy of a signed mail must not make a second one of it."""
    raw = signed()
    first, second = tried(raw), tried(other(raw))
    assert isinstance(first, Proof)
    assert isinstance(second, Proof)
    assert other(raw) != raw
    assert first.signature == second.signature
    third = tried(signed(PLAIN.replace(b"approve", b"reject")))
    assert isinstance(third, Proof)
    assert third.signature != first.signature


def test_an_end_that_is_still_ahead_is_kept_to_and_one_that_is_past_is_not() -> None:
    now = int(time.time())
    canon = (b"relaxed", b"relaxed")
    assert isinstance(tried(by_hand(PLAIN, canon, ALL, x=b"%d" % (now + 600))), Proof)
    assert doubt(by_hand(PLAIN, canon, ALL, x=b"%d" % (now - 60))) == "expired"
    assert doubt(by_hand(PLAIN, canon, ALL, x=b"soon")) == "expired"
    assert doubt(by_hand(PLAIN, canon, ALL, q=b"http/txt")) in ("signature", "malformed-signature")
    assert doubt(by_hand(PLAIN, canon, ALL, i=b"ada@evil.example")) == "signature"


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (b"v=DKIM1; k=rsa; p=", "signature"),
        (None, "signature"),
        (b"", "signature"),
        (b"v=spf1 -all", "signature"),
        (b"v=DKIM2; k=rsa; p=%p", "signature"),
        (b"v=DKIM1; k=ed25519; p=%p", "signature"),
        (b"v=DKIM1; k=rsa; t=y; p=%p", "testing"),
        (b"v=DKIM1; k=rsa; t=s : y; p=%p", "testing"),
        (b"v=DKIM1; k=rsa; s=tlsrpt; p=%p", "signature"),
        (b"v=DKIM1; k=rsa; s=chat; p=%p", "signature"),
        (b"v=DKIM1; k=rsa; h=sha1; p=%p", "weak"),
        (b"v=DKIM1; k=rsa; s=email; h=sha1:sha256; t=s; p=%p", None),
        (b"k=rsa; p=%p", None),
        (b"p=%p; n=a note;", None),
    ],
)
def test_a_key_that_is_revoked_tested_or_for_something_else_proves_nothing(
    record: bytes | None, name: str | None
) -> None:
    key = key_of("example.com")
    public = key.record.rpartition(b"p=")[2]
    records = {} if record is None else {key.name: record.replace(b"%p", public)}
    found = tried(signed(), Dns(records))
    assert (found.name if isinstance(found, Doubt) else None) == name


def test_a_key_that_does_not_speak_for_domains_below_it() -> None:
    raw = signed(PLAIN.replace(b"ada@example.com", b"ada@mail.example.com"))
    key = key_of("example.com")
    assert isinstance(tried(raw, allowed="ada@mail.example.com"), Proof)
    strict = Dns({key.name: key.record.replace(b"k=rsa;", b"k=rsa; t=s;")})
    assert doubt(raw, strict, "ada@mail.example.com") == "other-domain"
    below = by_hand(PLAIN, (b"relaxed", b"relaxed"), ALL, i=b"ada@mail.example.com")
    assert isinstance(tried(below), Proof)
    assert doubt(below, strict) == "other-domain"


def test_ed25519_alone_is_not_enough_and_beside_rsa_does_no_harm() -> None:
    raw = re.sub(rb"a=rsa-sha256", b"a=ed25519-sha256", signed(), count=1)
    assert doubt(raw) == "weak"
    assert isinstance(tried(raw[: len(raw) - len(PLAIN)] + signed()), Proof)


@pytest.mark.parametrize(
    ("sender", "name"),
    [
        ("Ada (at home) <ada@example.com>", None),
        ("ada@example.com (Ada)", None),
        ('"Ada, of example.com" <ada@example.com>', None),
        ("=?utf-8?q?Ad=C3=A4?= <ada@example.com>", None),
        ("ADA@EXAMPLE.COM", None),
        ("Ad\u00e4 <ada@example.com>", None),
        ("=?utf-8?q?ada=40example=2Ecom?= <eve@evil.example>", "from"),
        ("=?utf-8?q?ada?=@example.com", "from-unclear"),
        ("=?utf-8?b?YWRhQGV4YW1wbGUuY29t?=", "from-unclear"),
        ("ada@ex\u0430mple.com", "from-unclear"),
        ("ada@xn--exmple-4nf.com", "from"),
        ("\u0430da@example.com", "from-unclear"),
        ("ada@example\u3002com", "from-unclear"),
        ("ada@example.com\u200b", "from-unclear"),
        ("ada@example.com.", "from"),
        ("Friends: ada@example.com;", "from-unclear"),
        ("Friends:;", "from-unclear"),
        ("ada@example.com <eve@evil.example>", "from-unclear"),
        ("<ada@example.com> <eve@evil.example>", "from-unclear"),
        ("<@evil.example:ada@example.com>", "from-unclear"),
        ('"ada@example.com" <eve@evil.example>', "from"),
        ('"ada@example.com\\" <eve@evil.example>"', "from-unclear"),
        ("(<ada@example.com>) eve@evil.example", "from"),
        ("ada(@example.com)@evil.example", "from-unclear"),
        ("ada @example.com", "from-unclear"),
        ('"ada"@example.com', "from-unclear"),
        ("ada@[127.0.0.1]", "from"),
        ("ada", "from-unclear"),
        ("", "from-unclear"),
    ],
)
def test_who_a_from_field_names(sender: str, name: str | None) -> None:
    """All of them signed by the domain of the one who may decide: only the plain address is it."""
    raw = signed(PLAIN.replace(b"Ada <ada@example.com>", sender.encode()))
    found = tried(raw)
    assert (found.name if isinstance(found, Doubt) else None) == name, found


@pytest.mark.parametrize(
    "top",
    [
        b"From eve@evil.example Mon Nov 30 02:00:00 2026\r\n",
        b" From: eve@evil.example\r\n",
        b"\r\nFrom: eve@evil.example\r\n",
        b"X: a\r\n \r\nFrom: eve@evil.example\r\n",
        b"From\t: eve@evil.example\r\n",
        b"From\r\n : eve@evil.example\r\n",
        b"X: a\r\n\tFrom: eve@evil.example\r\nFROM: eve@evil.example\r\n",
        b"From: eve@evil.example\r",
        b"X: \x00\r\n",
        b"no colon\r\n",
    ],
)
def test_what_is_put_above_a_signed_mail_makes_it_nobody_elses(top: bytes) -> None:
    found = tried(top + signed())
    assert isinstance(found, Doubt) or found.address == REAL
    assert isinstance(found, Doubt) or b"eve" not in top.partition(b"From")[2].partition(b":")[2]


NO_TYPE = tuple(name for name in SIGNED if not name.startswith("content-"))
ENCODED = PLAIN.replace(b"\r\n\r\napprove", b"\r\nMIME-Version: 1.0\r\n\r\nYXBwcm92ZQ==")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"", None),
        (b"Content-Type: text/plain; charset=utf-8\r\n", None),
        (b"Content-Transfer-Encoding: 8bit\r\n", None),
        (b"Content-Transfer-Encoding: quoted-printable\r\n", None),
        (b"Content-Transfer-Encoding: base64\r\n", "framing"),
        (b"Content-Transfer-Encoding: BASE64 (x)\r\n", "framing"),
        (b"Content-Transfer-Encoding: uuencode\r\n", "framing"),
        (b"Content-Type: text/html\r\n", "framing"),
        (b"Content-Type: message/rfc822\r\n", "framing"),
        (b"Content-Type: multipart/mixed; boundary=YXBw\r\n", "framing"),
    ],
)
def test_what_nobody_signed_cannot_make_another_text_of_it(head: bytes, name: str | None) -> None:
    """Some providers do not sign how the text is to be read; then it is taken as it stands, or not at all."""
    found = tried(head + signed(ENCODED, names=NO_TYPE))
    assert (found.name if isinstance(found, Doubt) else None) == name, found


@given(st.binary(max_size=400))
def test_no_signature_field_breaks_it(value: bytes) -> None:
    raw = (
        b"DKIM-Signature: " + value.replace(b"\r", b"").replace(b"\n", b"\r\n ").replace(b"\x00", b"") + b"\r\n" + PLAIN
    )
    assert isinstance(tried(raw), Doubt)


@given(st.binary(max_size=300))
def test_no_record_of_a_key_breaks_it(value: bytes) -> None:
    found = tried(signed(), Dns({key_of("example.com").name: value}))
    assert isinstance(found, Doubt)


SIGNED_ONCE = signed()
TAGS = re.findall(rb"\b([a-z]{1,2})=", SIGNED_ONCE[: len(SIGNED_ONCE) - len(PLAIN)])


@given(st.integers(0, len(SIGNED_ONCE) - len(PLAIN) - 1), st.integers(0, 255))
def test_one_changed_byte_of_a_signature_field_never_proves_another(at: int, byte: int) -> None:
    raw = SIGNED_ONCE[:at] + bytes([byte]) + SIGNED_ONCE[at + 1 :]
    found = tried(raw)
    assert isinstance(found, Doubt) or found.address == REAL


@example(at=len(PLAIN) - 9, byte=ord("A"))
@given(st.integers(0, len(PLAIN) - 3), st.integers(33, 126))
def test_one_changed_byte_of_the_mail_is_noticed(at: int, byte: int) -> None:
    start = len(SIGNED_ONCE) - len(PLAIN)
    was = SIGNED_ONCE[start + at]
    raw = SIGNED_ONCE[: start + at] + bytes([byte]) + SIGNED_ONCE[start + at + 1 :]
    in_name = at < PLAIN.find(b"\r\n\r\n") and b":" not in PLAIN[PLAIN.rfind(b"\n", 0, at) + 1 : at]
    same = byte == was or (in_name and chr(was).lower() == chr(byte).lower())  # field names are written in any case
    if not same:
        assert isinstance(tried(raw), Doubt), raw[start:]


# --- the DNS


@pytest.mark.parametrize(
    "error", [exception.Timeout, resolver.NoNameservers, resolver.NoResolverConfiguration, OSError]
)
def test_a_dns_that_does_not_answer_is_no_answer(error: type[Exception]) -> None:
    with patch.object(resolver, "resolve", side_effect=error), pytest.raises(KeyUnknown):
        dns_txt(b"s1._domainkey.example.com.", 1)


def test_a_name_that_the_dns_does_not_know_has_no_key() -> None:
    with patch.object(resolver, "resolve", side_effect=resolver.NXDOMAIN):
        assert dns_txt(b"s1._domainkey.example.com.", 1) is None


@pytest.mark.parametrize("name", [b"\xff._domainkey.example.com.", b"a" * 80 + b"._domainkey.example.com.", b".."])
def test_a_name_that_is_none_is_not_looked_up(name: bytes) -> None:
    with pytest.raises(KeyUnknown):
        dns_txt(name, 1)


def test_a_record_in_pieces_is_one() -> None:
    class Record:
        strings = (b"v=DKIM1; ", b"p=abc")

    with patch.object(resolver, "resolve", return_value=[Record()]) as asked:
        assert dns_txt(b"s1._domainkey.example.com.", 3) == b"v=DKIM1; p=abc"
    assert asked.call_args.kwargs == {"lifetime": 3, "search": False}


def test_a_dns_that_hangs_is_given_up_by_its_own_time() -> None:
    """The name server is there and says nothing."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mute:
        mute.bind(("127.0.0.1", 0))
        made = resolver.Resolver(configure=False)
        made.nameservers, made.port = ["127.0.0.1"], mute.getsockname()[1]
        with patch.object(resolver, "resolve", made.resolve), pytest.raises(KeyUnknown):
            dns_txt(b"s1._domainkey.example.com.", 0.2)


def test_keys_of_tests_are_keys() -> None:
    assert isinstance(key_of("example.com"), Key)
