"""`make bench ARGS=--growth`: what each command costs in mailboxes of 1,000 to 200,000 messages, as a table and a plot.

The rule: each size is a data folder of its own with one mailbox in it, made through the store's own face and then
served and looked at from outside, so that nothing but the number of messages differs.
"""

import asyncio
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bench import plot, postroom, process
from bench.client import Client, Target
from bench.corpus import Mail
from bench.report import GROWTH, NOTES, PAGE, number
from bridge.imap.items import RENDERERS
from mailstore import accounts, mailboxes, messages
from mailstore.model import Mailbox, Uid
from mailstore.sqlite import WriteTx
from mailstore.store import Prepared, Store

SIZES: Final = (1_000, 5_000, 20_000, 50_000, 200_000)
BOX: Final = "growing"
UNIQUE: Final = 20_000  # messages with bytes of their own; what is more are copies of them
BATCH: Final = 500
NEEDLE: Final = "zanzibarium"  # in one message in a hundred
RUNS: Final = 7
QUICK_RUNS: Final = 50  # of what takes less than a millisecond
FLAT: Final = 3.0  # times as long with 200,000 messages as with 1,000 is flat: what is left is noise and caches
LINEAR: Final = 2.0  # times as long a message with the most as with a tenth of that is linear
PICTURE: Final = PAGE.parent / "pictures" / "growth.svg"
TITLE: Final = "## How cost grows"


@dataclass(frozen=True, slots=True)
class Line:
    """A command, and whether its cost may grow with the mailbox."""

    title: str
    flat: bool
    measure: Callable[[Client, Target], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Growth:
    """Milliseconds of one line at each of the sizes."""

    line: Line
    sizes: tuple[int, ...]
    millis: tuple[float, ...]

    @property
    def factor(self) -> float:
        """How many times longer the largest takes than the smallest."""
        return self.millis[-1] / self.millis[0]

    @property
    def met(self) -> bool:
        """Flat, or not worse than in proportion where it counts: from a tenth of the largest on."""
        if self.line.flat:
            return self.factor <= FLAT
        at = min(range(len(self.sizes)), key=lambda each: abs(self.sizes[each] - self.sizes[-1] / 10))
        return self.millis[-1] / self.millis[at] <= LINEAR * self.sizes[-1] / self.sizes[at]


def measure(folder: Path, sizes: Sequence[int], tell: Callable[[str], None]) -> list[Growth]:
    """All lines at all sizes."""
    found: dict[str, list[float]] = {line.title: [] for line in LINES}
    for size in sizes:
        home = folder / f"growth-{size}"
        tell(f"making a mailbox of {size:,} messages")
        postroom.set_up(home, postroom.IN_CLEAR + postroom.FREE_PORTS)
        asyncio.run(_fill(home, size))
        with postroom.running(home) as target:
            if process.known:
                tell(f"waiting for the index of words of {size:,}")
                process.quiet(target.pid)
            with Client(target) as client:
                for line in LINES:
                    tell(f"{line.title}, {size:,}")
                    found[line.title].append(statistics.median(line.measure(client, target)))
    return [Growth(line, tuple(sizes), tuple(found[line.title])) for line in LINES]


# Making mailboxes


async def _fill(home: Path, size: int) -> None:
    store = await Store.open(home, postroom.series(), renderers=RENDERERS)
    account = store.read(accounts.all)[0].id
    box = await store.write(lambda tx: mailboxes.create(tx, account, BOX))
    for start in range(0, min(size, UNIQUE), BATCH):
        prepared = [store.prepare(_letter(number)) for number in range(start, start + BATCH)]

        def batch(tx: WriteTx, start: int = start, prepared: Sequence[Prepared] = prepared) -> None:
            for at, each in enumerate(prepared):
                flags = ("\\Seen",) if (start + at) % 3 else ()
                messages.append(tx, box, each, flags=flags, internal_date=_moment(start + at))

        await store.write(batch)
    for there in range(UNIQUE, size, UNIQUE):
        await store.write(partial(_again, box=box, count=min(UNIQUE, size - there)))
    await store.close()


def _again(tx: WriteTx, box: Mailbox, count: int) -> None:
    messages.copy(tx, box, [Uid(uid) for uid in range(1, count + 1)], box)


def _letter(number: int) -> bytes:
    secret = f"The {NEEDLE} is here.\r\n" if number % 100 == 7 else ""
    head = postroom.letter(number).replace(b"Message-ID: <", b"Message-ID: <growth.")
    return head + secret.encode()


def _moment(number: int) -> int:
    """Internal dates in no order, over about a year."""
    return 1_700_000_000_000 + (number * 7_919_000_000) % 31_536_000_000


# Measuring


def _timed(act: Callable[[], object], runs: int, prepare: Callable[[], object] = lambda: None) -> list[float]:
    times = []
    for _ in range(runs + 1):
        prepare()
        start = time.perf_counter()
        act()
        times.append((time.perf_counter() - start) * 1000)
    return times[1:]


def _asking(command: str, runs: int = RUNS) -> Callable[[Client, Target], Sequence[float]]:
    return lambda client, target: _timed(partial(client.act, command), runs)


def _first_select(client: Client, target: Target) -> Sequence[float]:
    """Once: the index is read."""
    start = time.perf_counter()
    client.command(f"SELECT {BOX}")
    return [(time.perf_counter() - start) * 1000]


def _select(client: Client, target: Target) -> Sequence[float]:
    again = partial(client.act, f"SELECT {BOX}")
    return _timed(again, QUICK_RUNS, partial(client.act, "EXAMINE INBOX"))


def _push(client: Client, target: Target) -> Sequence[float]:
    """From sending an APPEND of one message to the EXISTS that another client hears in IDLE: the commit is in it."""
    times = []
    mail = Mail("", "30-Nov-2026 09:00:00 +0000", postroom.letter(1))
    with Client(target) as idler:
        idler.command(f"SELECT {BOX}")
        idler.idle()
        for _ in range(RUNS):
            time.sleep(0.12)  # longer than news is ever held back for being one of a burst
            start = time.perf_counter()
            tag = client.start_append(BOX, [mail])
            idler.until(rb" EXISTS")
            times.append((time.perf_counter() - start) * 1000)
            client.wait(tag)
    return times


def _store(client: Client, target: Target) -> Sequence[float]:
    unset = partial(client.act, "STORE 1:* -FLAGS.SILENT (\\Flagged)")
    return _timed(partial(client.act, "STORE 1:* +FLAGS.SILENT (\\Flagged)"), 3, unset)


LINES: Final[Sequence[Line]] = (
    Line("first SELECT", False, _first_select),
    Line("SELECT", True, _select),
    Line("STATUS", True, _asking(f"STATUS {BOX} (MESSAGES UNSEEN UIDNEXT HIGHESTMODSEQ)", QUICK_RUNS)),
    Line("NOOP", True, _asking("NOOP", QUICK_RUNS)),
    Line("FETCH FLAGS", False, _asking("UID FETCH 1:* (FLAGS)")),
    Line("FETCH ENVELOPE", False, _asking("UID FETCH 1:* (ENVELOPE)", 3)),
    Line("SEARCH UNSEEN", False, _asking("UID SEARCH UNSEEN")),
    Line("SEARCH TEXT", False, _asking(f"UID SEARCH TEXT {NEEDLE}")),
    Line("SORT (SUBJECT)", False, _asking("UID SORT (SUBJECT) UTF-8 ALL")),
    Line("STORE", False, _store),
    Line("push", True, _push),
)


# Telling

_HEAD: Final = """\
{title}

Medians in milliseconds, with `make bench ARGS=--growth` on: {machine}.
One mailbox of {least:,} to {most:,} small mails. SELECT, STATUS, NOOP and push (an APPEND to the EXISTS that another
client hears in IDLE, with the commit) are to be flat, the others in proportion. Every FETCH, SEARCH, SORT and STORE is
of the whole mailbox; one message in a hundred has the word that SEARCH TEXT looks for.

![Milliseconds by number of messages, both on logarithmic scales](pictures/growth.svg)

"""


def section(grown: Sequence[Growth], machine: str) -> str:
    """The part of the page."""
    sizes = grown[0].sizes
    head = _HEAD.format(title=TITLE, machine=machine, least=sizes[0], most=sizes[-1])
    rows = ["| What | " + " | ".join(f"{size:,}" for size in sizes) + " | Grows | Verdict |"]
    rows.append("|---|" + "---:|" * (len(sizes) + 1) + "---|")
    for each in grown:
        wanted = "flat" if each.line.flat else "in proportion"
        told = wanted if each.met else f"**not {wanted}**"
        cells = " | ".join(map(number, each.millis))
        rows.append(f"| {each.line.title} | {cells} | {number(each.factor)}x | {told} |")
    return head + "\n".join(rows) + "\n\n"


def write(grown: Sequence[Growth], machine: str) -> Path:
    """The picture, and the part of the page in its place before the notes."""
    lines = [plot.Curve(each.line.title, each.sizes, each.millis, each.line.flat) for each in grown]
    PICTURE.write_text(plot.svg(lines, "messages in the mailbox", "milliseconds"))
    text = section(grown, machine)
    GROWTH.write_text(text)
    PAGE.write_text("".join(_replaced(PAGE.read_text(), text)))
    return PAGE


def _replaced(page: str, text: str) -> Iterator[str]:
    notes = NOTES.read_text().partition("\n")[0]
    before, _, rest = page.partition(TITLE)
    if not rest:
        before, _, rest = page.partition(notes)
        rest = notes + rest
    else:
        rest = notes + rest.partition(notes)[2]
    yield from (before, text, rest)
