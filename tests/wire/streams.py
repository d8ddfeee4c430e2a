"""Made-up client streams: mostly right, then damaged. Deterministic for a seed; used by the fuzz and the benchmarks."""

import random
from collections.abc import Callable

WORDS = [
    b"NOOP", b"LOGIN", b"SELECT", b"UID FETCH", b"FETCH", b"STORE", b"UID STORE", b"SEARCH", b"UID SEARCH", b"APPEND",
    b"LIST", b"STATUS", b"COPY", b"CREATE", b"IDLE", b"X",
]  # packed, to be seen at a glance  # fmt: skip
ATOMS = [
    b"INBOX",
    b"nil",
    b"NIL",
    b"&-",
    b"&AOk-",
    b"~foo",
    b"a]b",
    b"{",
    b"}",
    b"{}",
    b"%",
    b"*",
    b"\\",
    b'"',
    b"\xe4",
]
NUMBERS = [b"0", b"1", b"*", b"1:*", b"4294967295", b"4294967296", b"1,2:3", b"9" * 30, b"3:1,*:2"]
FETCHES = [
    b"(UID FLAGS)", b"ALL", b"FULL", b"(ALL)", b"BODY[]<0.1>", b"BODY.PEEK[HEADER.FIELDS (From {2+}\r\nTo)]",
    b"BODY[1.2.MIME]", b"BODY[1.]", b"BODY[", b"BODY[]<1.0>", b"(RFC822.SIZE ENVELOPE BODYSTRUCTURE)", b"BODY[0]",
]  # packed, to be seen at a glance  # fmt: skip
KEYS = [
    b"ALL", b"NOT", b"OR", b"(", b")", b"UNSEEN", b"SUBJECT", b"HEADER X-Y", b"BEFORE 1-Jan-2026", b"ON 31-Feb-2026",
    b"CHARSET UTF-8", b"CHARSET KOI8-R", b"KEYWORD a", b"UID 1:*", b"1:3", b"LARGER 5", b"TEXT {3+}\r\nabc", b"OLD",
]  # packed, to be seen at a glance  # fmt: skip


def literal(rng: random.Random) -> bytes:
    size = rng.choice([0, 1, 3, 10, 60, 200])
    body = bytes(rng.choice(b'ab \r\n{}+"\\\x00\xff0123(') for _ in range(size))
    return rng.choice([b"", b"", b"~"]) + b"{%d%b}\r\n" % (size, rng.choice([b"+", b"+", b""])) + body


def argument(rng: random.Random) -> bytes:
    make: Callable[[], bytes] = rng.choice(
        [
            lambda: rng.choice(ATOMS),
            lambda: rng.choice(NUMBERS),
            lambda: literal(rng),
            lambda: b'"' + bytes(rng.choice(b'ab{5}+ \\"') for _ in range(rng.randrange(8))) + b'"',
            lambda: b"(" + b" ".join(argument(rng) for _ in range(rng.randrange(3))) + b")",
            lambda: rng.choice(FETCHES),
            lambda: rng.choice(KEYS),
        ]
    )
    return make()


def command(rng: random.Random) -> bytes:
    word = rng.choice(WORDS)
    tag = rng.choice([b"A1", b"b2", b"]", b"a.b-c", b"+", b"*", b""])
    if "FETCH" in word.decode():
        arguments = [rng.choice(NUMBERS), rng.choice(FETCHES)]
    elif "SEARCH" in word.decode():
        arguments = [rng.choice(KEYS) for _ in range(rng.randrange(1, 6))]
    else:
        arguments = [argument(rng) for _ in range(rng.randrange(4))]
    end = rng.choice([b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r\n\r\n"])
    return b" ".join([tag, word, *arguments]) + end


def damage(rng: random.Random, data: bytes) -> bytes:
    """A few bytes changed, cut out or doubled."""
    out = bytearray(data)
    for _ in range(rng.choice([0, 0, 1, 2, 5])):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            out[at:at] = bytes([rng.choice(b'\x00\r\n{}"\\+ ()0129~\xff')])
        elif kind == 1:
            del out[at : at + rng.randrange(1, 4)]
        elif kind == 2:
            out[at : at + 1] = bytes([rng.randrange(256)])
        else:
            out[at:at] = out[at : at + rng.randrange(200)]
    return bytes(out)


def stream(rng: random.Random) -> bytes:
    return b"".join(damage(rng, command(rng)) for _ in range(rng.randrange(1, 6)))


def chunks(rng: random.Random, data: bytes) -> list[bytes]:
    """The data cut at random places, also into single bytes."""
    most = rng.choice([1, 3, 20, 1000])
    cut, at = list[bytes](), 0
    while at < len(data):
        size = rng.randrange(1, most + 1)
        cut.append(data[at : at + size])
        at += size
    return cut
