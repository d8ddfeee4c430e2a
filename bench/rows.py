"""The rows of the comparison: what a client does, how often, and what Postroom shall reach.

The rule: a row opens its own connection, leaves the mailboxes as it found them, and does the same to every server; a
row that a server does not offer (by its capabilities) yields nothing for it.
"""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from bench import process
from bench.client import Client, Target
from bench.corpus import NEEDLE, SINCE, SUBJECT, Corpus, Mail
from bench.figure import Goal, Sample

BIG: Final = "benchbig"
MAIN: Final = "benchmain"
COPIED: Final = "benchcopied"
MOVED: Final = "benchmoved"
APPENDED: Final = "benchappended"
PIPELINE: Final = 16
APPENDS: Final = 200
PUSHES: Final = 20
BURST_SECONDS: Final = 0.12  # longer than news is ever held back for being one of a burst
ROUND_TRIPS: Final = 300
PARALLEL: Final = 8
SESSIONS: Final = 200


@dataclass(frozen=True, slots=True)
class Stage:
    """What all rows share: the mails, how many lie in MAIN and BIG, and how often a row is repeated."""

    corpus: Corpus
    main: int = 10_000
    copies: int = 5
    repeats: int = 5
    fresh: list[Mail] = field(default_factory=list)  # mails that are in no mailbox, to be appended


@dataclass(frozen=True, slots=True)
class Row:
    """`measure` gives milliseconds (kB where `unit` says so), or None where the server lacks `needs`."""

    key: str
    title: str
    goal: Goal
    measure: Callable[[Stage, Target], Sample | None]
    unit: str = "ms"


def fill(stage: Stage, target: Target, tell: Callable[[int], None]) -> None:
    """Put the corpus into MAIN, and copies of that into BIG."""
    with Client(target) as client:
        client.fresh(MAIN)
        size = 50 if "MULTIAPPEND" in client.capabilities else 1
        waiting: list[bytes] = []
        for start in range(0, stage.main, size):
            mails = stage.corpus.mails(start, min(start + size, stage.main))
            waiting.append(client.start_append(MAIN, mails))
            tell(len(mails))
            if len(waiting) >= PIPELINE:
                client.wait(waiting.pop(0))
        for tag in waiting:
            client.wait(tag)
        client.fresh(BIG)
        client.command(f"SELECT {MAIN}")
        for _ in range(stage.copies):
            client.act(f"COPY 1:* {BIG}")
            tell(stage.main // 10)


def _repeat(stage: Stage, act: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> Sample:
    """Once to warm up, then as often as the stage says."""
    times = []
    for _ in range(stage.repeats + 1):
        prepare()
        start = time.perf_counter()
        act()
        times.append((time.perf_counter() - start) * 1000)
    return Sample(tuple(times[1:]), first=times[0])


def _asking(command: str, mailbox: str = MAIN, needs: str = "") -> Callable[[Stage, Target], Sample | None]:
    """A row that is one command in a selected mailbox."""

    def measure(stage: Stage, target: Target) -> Sample | None:
        with Client(target) as client:
            if needs and needs not in client.capabilities:
                return None
            client.command(f"SELECT {mailbox}")
            return _repeat(stage, partial(client.act, command))

    return measure


def _searching(command: str, needs: str = "") -> Callable[[Stage, Target], Sample | None]:
    """The same, with the number of messages found."""

    def measure(stage: Stage, target: Target) -> Sample | None:
        with Client(target) as client:
            if needs and needs not in client.capabilities:
                return None
            client.command(f"SELECT {MAIN}")
            said = client.command(command)
            answer = next(
                line for line in said.split(b"\r\n") if line.startswith((b"* SEARCH", b"* SORT", b"* THREAD"))
            )
            hits = len(answer.replace(b"(", b" ").replace(b")", b" ").split()) - 2
            sample = _repeat(stage, partial(client.act, command))
            return Sample(sample.runs, sample.first, hits)

    return measure


def _select(stage: Stage, target: Target) -> Sample:
    with Client(target) as client:
        return _repeat(stage, partial(client.act, f"SELECT {BIG}"), partial(client.act, "EXAMINE INBOX"))


def _append(stage: Stage, target: Target) -> Sample:
    """Milliseconds for one message, each durable before the next is sent."""
    with Client(target) as client:
        client.fresh(APPENDED)
        times = []
        for mail in stage.fresh[:APPENDS]:
            start = time.perf_counter()
            client.append(APPENDED, [mail])
            times.append((time.perf_counter() - start) * 1000)
        return Sample(tuple(times))


def _multiappend(stage: Stage, target: Target) -> Sample | None:
    with Client(target) as client:
        if "MULTIAPPEND" not in client.capabilities:
            return None
        mails = stage.fresh[:100]
        return _repeat(stage, partial(client.append, APPENDED, mails), partial(client.fresh, APPENDED))


def _store(stage: Stage, target: Target) -> Sample:
    with Client(target) as client:
        client.command(f"SELECT {MAIN}")
        unset = partial(client.act, "STORE 1:* -FLAGS.SILENT (\\Flagged)")
        sample = _repeat(stage, partial(client.act, "STORE 1:* +FLAGS (\\Flagged)"), unset)
        unset()
        return sample


def _filing(which: str) -> Callable[[Stage, Target], Sample | None]:
    """COPY of 1000 into an empty mailbox, MOVE of them into another, and EXPUNGE of them there."""

    def measure(stage: Stage, target: Target) -> Sample | None:
        times: dict[str, list[float]] = {"COPY": [], "MOVE": [], "EXPUNGE": []}
        with Client(target) as client:

            def timed(name: str, command: str) -> None:
                start = time.perf_counter()
                client.act(command)
                times[name].append((time.perf_counter() - start) * 1000)

            for _ in range(stage.repeats + 1):
                client.command(f"SELECT {MAIN}")
                client.fresh(COPIED)
                client.fresh(MOVED)
                timed("COPY", f"COPY 1:1000 {COPIED}")
                client.command(f"SELECT {COPIED}")
                timed("MOVE", f"MOVE 1:* {MOVED}")
                client.command(f"SELECT {MOVED}")
                client.command("STORE 1:* +FLAGS.SILENT (\\Deleted)")
                timed("EXPUNGE", "EXPUNGE")
        return Sample(tuple(times[which][1:]), times[which][0])

    return measure


def _noop(stage: Stage, target: Target) -> Sample:
    with Client(target) as client:
        client.command(f"SELECT {BIG}")
        times = []
        for _ in range(ROUND_TRIPS):
            start = time.perf_counter()
            client.act("NOOP")
            times.append((time.perf_counter() - start) * 1000)
        return Sample(tuple(times))


def _push(stage: Stage, target: Target) -> Sample:
    """From the OK of an APPEND to the EXISTS that another client hears in IDLE; before it counts as zero."""
    with Client(target) as writer, Client(target) as idler:
        writer.fresh(APPENDED)
        idler.command(f"SELECT {APPENDED}")
        idler.idle()
        times = []
        for mail in stage.fresh[:PUSHES]:
            time.sleep(BURST_SECONDS)
            writer.append(APPENDED, [mail])
            committed = time.perf_counter()
            idler.until(rb" EXISTS")
            times.append(max(0.0, time.perf_counter() - committed) * 1000)
        return Sample(tuple(times))


def _parallel(stage: Stage, target: Target) -> Sample:
    """Milliseconds a body, eight connections at once reading random ones."""

    def read(seed: int, client: Client) -> None:
        source = random.Random(seed)
        for _ in range(150):
            client.act(f"FETCH {source.randint(1, stage.main)} (BODY.PEEK[])")

    clients = [Client(target) for _ in range(PARALLEL)]
    for client in clients:
        client.command(f"SELECT {MAIN}")

    def all_at_once() -> None:
        threads = [threading.Thread(target=read, args=each) for each in enumerate(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    sample = _repeat(stage, all_at_once)
    for client in clients:
        client.close()
    return Sample(tuple(run / (PARALLEL * 150) for run in sample.runs))


def _sessions(stage: Stage, target: Target) -> Sample:
    """Milliseconds a session: connect, log in, select; sixteen at once."""
    runs = []
    for _ in range(2):
        clients: list[Client] = []

        def enter(clients: list[Client] = clients) -> None:
            for _ in range(SESSIONS // 16 + 1):
                client = Client(target)
                client.command(f"SELECT {MAIN}")
                clients.append(client)

        threads = [threading.Thread(target=enter) for _ in range(16)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        runs.append((time.perf_counter() - start) * 1000 / len(clients))
        for client in clients:
            client.close()
    return Sample(tuple(runs))


def _memory(stage: Stage, target: Target) -> Sample | None:
    """kB a session over TLS that has selected MAIN and waits in IDLE; the first fifty pay for what all share."""
    if not process.known:
        return None
    context = target.context()
    clients: list[Client] = []
    for number in range(SESSIONS + 50):
        if number == 50:
            before = process.own_memory(target.pid)
        client = Client(target, context)
        client.command(f"SELECT {MAIN}")
        client.idle()
        clients.append(client)
    time.sleep(1)
    after = process.own_memory(target.pid)
    for client in clients:
        client.close()
    return Sample(((after - before) / SESSIONS,))


_FIELDS: Final = "FROM TO SUBJECT DATE MESSAGE-ID REFERENCES"


def _least(ratio: float) -> Goal:
    return Goal(ratio=ratio)


ROWS: Final[Sequence[Row]] = (
    Row("push", "APPEND to EXISTS in another's IDLE, after the OK", Goal(most=2), _push),
    Row("sessions", "connect, LOGIN, SELECT: one of 200 sessions", _least(5), _sessions),
    Row("memory", "memory of an idle session over TLS", _least(10), _memory, "kB"),
    Row("append", "APPEND of one message, durable", _least(1.5), _append),
    Row("multiappend", "MULTIAPPEND of 100", _least(0.4), _multiappend),
    Row("select", "SELECT of 50,000, warm", Goal(most=0.5), _select),
    Row("flags", "UID FETCH 1:* (FLAGS) of 50,000", _least(1), _asking("UID FETCH 1:* (FLAGS)", BIG)),
    Row(
        "envelope",
        "UID FETCH 1:* (UID RFC822.SIZE FLAGS INTERNALDATE ENVELOPE)",
        _least(1),
        _asking("UID FETCH 1:* (UID RFC822.SIZE FLAGS INTERNALDATE ENVELOPE)"),
    ),
    Row(
        "fields",
        "UID FETCH 1:* of six header fields",
        _least(0.9),
        _asking(f"UID FETCH 1:* (BODY.PEEK[HEADER.FIELDS ({_FIELDS})])"),
    ),
    Row("structure", "UID FETCH 1:* (BODYSTRUCTURE)", _least(0.5), _asking("UID FETCH 1:* (BODYSTRUCTURE)")),
    Row("bodies", "FETCH 1:1000 (BODY.PEEK[])", _least(1.8), _asking("FETCH 1:1000 (BODY.PEEK[])")),
    Row("part", "FETCH 1:1000 (BODY.PEEK[1])", Goal(), _asking("FETCH 1:1000 (BODY.PEEK[1])")),
    Row("text", "SEARCH TEXT", _least(40), _searching(f"UID SEARCH TEXT {NEEDLE}")),
    Row("body", "SEARCH BODY", _least(40), _searching(f"UID SEARCH BODY {NEEDLE}")),
    Row("subject", "SEARCH SUBJECT", _least(1), _searching(f"UID SEARCH SUBJECT {SUBJECT}")),
    Row("unseen", "SEARCH UNSEEN", _least(1), _searching("UID SEARCH UNSEEN")),
    Row("since", "SEARCH SINCE", _least(1), _searching(f"UID SEARCH SINCE {SINCE}")),
    Row("larger", "SEARCH LARGER 10000 UNSEEN", Goal(), _searching("UID SEARCH LARGER 10000 UNSEEN")),
    Row("sort", "SORT (DATE)", _least(1), _searching("UID SORT (DATE) UTF-8 ALL", "SORT")),
    Row("sort-subject", "SORT (SUBJECT)", _least(1), _searching("UID SORT (SUBJECT) UTF-8 ALL", "SORT")),
    Row(
        "thread",
        "THREAD REFERENCES",
        _least(1),
        _searching("UID THREAD REFERENCES UTF-8 ALL", "THREAD=REFERENCES"),
    ),
    Row("store", "STORE 1:* +FLAGS of 10,000", _least(0.2), _store),
    Row("copy", "COPY of 1000", _least(1), _filing("COPY")),
    Row("move", "MOVE of 1000", _least(1), _filing("MOVE")),
    Row("expunge", "EXPUNGE of 1000", _least(1), _filing("EXPUNGE")),
    Row("noop", "NOOP", Goal(most=0.15), _noop),
    Row("parallel", "random bodies, eight connections: one body", _least(0.6), _parallel),
)
