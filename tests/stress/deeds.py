"""What a client does when nothing in particular comes to its mind: one random command after another, each with what it
must answer.

Rule: what is about to leave a mailbox is condemned in the ledger before the server hears of it.
"""

import re
from collections.abc import Sequence
from random import Random
from typing import Final

from tests.stress.client import Answer, Client, Slot, Watch
from tests.stress.ledger import STRICT, VIEWS, need
from tests.stress.link import numbers, results, spelled

MOST: Final = 120  # messages in a mailbox, beyond which nothing is added
SHARED: Final = ("\\Seen", "\\Flagged", "\\Answered", "$Label1")
KEYS: Final = (
    "ALL", "UNSEEN", "SEEN FLAGGED", "NOT DELETED", "SUBJECT stress", "BODY line", "OR ANSWERED UNFLAGGED",
    "SINCE 1-Jan-2020", "LARGER 200", "KEYWORD $Label1",
)  # packed, to be seen at a glance  # fmt: skip
ITEMS: Final = (
    "UID", "FLAGS", "(UID FLAGS)", "(UID RFC822.SIZE FLAGS)", "(UID ENVELOPE)", "(UID BODYSTRUCTURE FLAGS)",
    "(UID RFC822.SIZE BODY.PEEK[HEADER.FIELDS (SUBJECT)])", "(FLAGS INTERNALDATE)", "(UID BODY.PEEK[])",
)  # packed, to be seen at a glance  # fmt: skip
COPYUID: Final = re.compile(rb"\[COPYUID \d+ (\S+) (\S+)\]")


def picked(random: Random, slots: Sequence[Slot], most: int = 6) -> list[int]:
    """Some positions from 0, ascending."""
    return sorted(random.sample(range(len(slots)), min(len(slots), random.randint(1, most))))


def named(client: Client, random: Random, at: Sequence[int]) -> tuple[str, str, list[int]]:
    """How to name these positions: ("UID " or "", the set, the UIDs as far as they are known). Empty if not at all."""
    uids = [uid for position in at if (uid := client.slots[position].uid) is not None]
    if client.by_uid_only or random.random() < 0.5:
        return "UID ", spelled(uids), uids
    return "", spelled([position + 1 for position in at]), uids


def mail(client: Client, random: Random) -> bytes:
    subject = f"stress-{client.name}-{random.getrandbits(48):x}"
    lines = ["From: bob@example.org", f"Subject: {subject}", f"Message-ID: <{subject}@example.org>", ""]
    lines += ["A line of text."] * random.randint(1, 40)
    return "".join(f"{line}\r\n" for line in lines).encode()


# Reading


async def noop(client: Client, random: Random) -> None:
    await client.say(random.choice(("NOOP", "CHECK")) if client.mailbox else "NOOP")


async def fetch(client: Client, random: Random) -> None:
    if not client.slots:
        return
    by, which, _ = named(client, random, picked(random, client.slots, 20))
    if by and random.random() < 0.3:
        which = "1:*"
    if not which:
        await learn(client)
        return
    items = random.choice(ITEMS)
    if "CONDSTORE" in client.modes and random.random() < 0.3:
        items = "(UID FLAGS MODSEQ)"
    await client.say(f"{by}FETCH {which} {items}")


async def changes(client: Client, random: Random) -> None:
    """What has changed since some time ago."""
    if "CONDSTORE" not in client.modes or client.mailbox is None or not client.slots:
        return
    since = max(1, client.highest.get(client.mailbox, 1) - random.randint(0, 50))
    vanished = " VANISHED" if "QRESYNC" in client.modes and random.random() < 0.5 else ""
    await client.say(f"UID FETCH 1:* (FLAGS) (CHANGEDSINCE {since}{vanished})")


async def learn(client: Client) -> None:
    """The UID of everything, so that it can be named by it."""
    if client.slots:
        modseq = " MODSEQ" if "CONDSTORE" in client.modes else ""
        await client.say(f"UID FETCH 1:* (UID FLAGS{modseq})")


async def search(client: Client, random: Random) -> None:
    if client.mailbox is None:
        return
    key, by = random.choice(KEYS), "UID " if client.by_uid_only or random.random() < 0.5 else ""
    count = len(client.slots)
    form = random.randrange(4)
    if form == 0:
        answer = await client.say(f"{by}SEARCH RETURN (MIN MAX COUNT) {key}")
        need(any(line.startswith(b"ESEARCH") for line in answer.lines), f"no ESEARCH: {answer}")
        return
    if form == 1:
        answer = await client.say(f"{by}SORT (REVERSE DATE SUBJECT) UTF-8 {key}")
    elif form == 2:
        await client.say(f"{by}THREAD REFERENCES UTF-8 {key}")
        return
    else:
        answer = await client.say(f"{by}SEARCH {key}")
    found = next(line for line in answer.lines if line.split(b" ")[0] in (b"SEARCH", b"SORT", b"ESEARCH"))
    hits = results(found)
    need(len(hits) == len(set(hits)), f"{client.name}: told twice: {found!r}")
    if not by:
        need(all(1 <= hit <= count for hit in hits), f"{client.name} knows {count}: {found!r}")


async def watch(client: Client, random: Random) -> None:
    """A search that is kept up to date from here on, or no longer."""
    if client.mailbox is None or b"CONTEXT=SEARCH" not in client.capabilities:
        return
    if client.watch is not None:
        await client.say(f'CANCELUPDATE "{client.watch.tag.decode()}"')
        client.watch = None
        return
    criteria = random.choice(("UNSEEN", "FLAGGED", "SUBJECT stress UNANSWERED", "NOT KEYWORD $Label1"))
    answer = await client.say(f"UID SEARCH RETURN (UPDATE ALL) {criteria}")
    first, *news = [line for line in answer.lines if line.startswith(b"ESEARCH")]
    found = set(numbers(first.split(b" ALL ")[1])) if b" ALL " in first else set()
    client.watch = Watch(first.split(b'"')[1], criteria, found)
    for line in news:  # told behind the result, and within its answer
        client.watch.apply(line)


async def status(client: Client, random: Random) -> None:
    box = random.choice((*STRICT, *VIEWS))
    if random.random() < 0.2:
        await client.say('LIST "" "*" RETURN (STATUS (MESSAGES UNSEEN))')
        return
    answer = await client.say(f'STATUS "{box}" (MESSAGES UIDNEXT UIDVALIDITY UNSEEN)')
    told = next(line for line in answer.lines if line.startswith(b'STATUS "%b"' % box.encode()) and b"VALID" in line)
    values = dict(re.findall(rb"([A-Z]+) (\d+)", told.rpartition(b"(")[2]))
    client.ledger.opened(box, int(values[b"UIDVALIDITY"]))
    following = int(values[b"UIDNEXT"])
    need(following >= client.highest.get(f"next {box}", 0), f"{client.name}: UIDNEXT of {box} fell: {told!r}")
    client.highest[f"next {box}"] = following
    need(int(values[b"UNSEEN"]) <= int(values[b"MESSAGES"]), f"more unseen than there are: {told!r}")


async def idle(client: Client, random: Random) -> None:
    if client.mailbox is None:
        return
    await client.idle(random.random() * 0.6)


# Changing


async def store(client: Client, random: Random) -> None:
    if client.read_only or client.mailbox is None or not client.slots:
        return
    at = picked(random, client.slots)
    by, which, uids = named(client, random, at)
    if not which:
        await learn(client)
        return
    own = client.mailbox in STRICT and by == "UID " and random.random() < 0.5
    flags = [client.keyword] if own else random.sample(SHARED, random.randint(1, 2))
    change = random.choice("+-")
    places = {(client.mailbox, uid) for uid in uids}
    if not own and client.mailbox in STRICT and by == "UID " and random.random() < 0.1:
        change = ""
        client.ledger.replaced |= places
    silent = random.choice(("", ".SILENT"))
    since = ""
    if "CONDSTORE" in client.modes and random.random() < 0.3:
        since = f"(UNCHANGEDSINCE {client.highest.get(client.mailbox, 1)}) "
    if own:
        client.unsure |= places
    if silent:
        client.unlearn(client.slots[position] for position in at)
    answer = await client.say(f"{by}STORE {which} {since}{change}FLAGS{silent} ({' '.join(flags)})")
    if own:
        client.unsure -= places
        left = set(numbers(answer.code[1])) if answer.code[0] == b"MODIFIED" else set()
        client.mine.update({place: change == "+" for place in places if place[1] not in left})


async def append(client: Client, random: Random) -> None:
    box = random.choice(STRICT)
    if client.mailbox is not None and len(client.slots) > MOST:
        return
    several = random.randint(1, 3)
    mails = [mail(client, random) for _ in range(several)]
    client.ledger.bodies.update((_subject(raw), raw) for raw in mails)
    answer = await client.say(f"APPEND {box}" + " (\\Flagged) {}" * several, *mails)
    code, value = answer.code
    need(code == b"APPENDUID", f"no APPENDUID: {answer}")
    uids = numbers(value.split()[1])
    need(len(uids) == several and uids == sorted(uids), f"{several} were appended: {answer}")
    client.ledger.arrived(box, uids)
    for uid, raw in zip(uids, mails, strict=True):
        client.ledger.subject((box, uid), _subject(raw))
        client.ledger.size((box, uid), len(raw))


def _subject(raw: bytes) -> str:
    return raw.split(b"Subject: ")[1].split(b"\r\n")[0].decode()


async def folders(client: Client, random: Random) -> None:
    """A mailbox of one's own, made, filled, renamed and deleted while the others go on."""
    name = f"own-{client.name}-{random.getrandbits(24):x}"
    await client.say(f"CREATE {name}")
    await client.say(f"APPEND {name} {{}}", mail(client, random))
    if random.random() < 0.5:
        await client.say(f"RENAME {name} {name}-again")
        name += "-again"
    told = (await client.say(f'STATUS "{name}" (MESSAGES)')).lines
    need(any(b"(MESSAGES 1)" in line for line in told), f"{client.name}: one message was put in: {told}")
    await client.say(f"DELETE {name}")


async def copy(client: Client, random: Random) -> None:
    if client.mailbox is None or not 0 < len(client.slots) < MOST:
        return
    by, which, uids = named(client, random, picked(random, client.slots, 3))
    if not which:
        await learn(client)
        return
    box = random.choice(STRICT)
    moves = client.mailbox in STRICT and not client.read_only and random.random() < 0.5
    if moves:
        if not by:
            return
        client.ledger.condemn(client.mailbox, uids)
    answer = await client.say(f"{by}{'MOVE' if moves else 'COPY'} {which} {box}")
    _copied(client, answer, box)


def _copied(client: Client, answer: Answer, box: str) -> None:
    match = COPYUID.search(b" ".join((*answer.lines, answer.text)))
    if match is None:
        return
    sources, targets = numbers(match[1]), numbers(match[2])
    need(len(sources) == len(targets), f"the pairs of COPYUID do not fit: {answer}")
    client.ledger.arrived(box, targets)
    for source, target in zip(sources, targets, strict=True):
        client.ledger.copied((client.mailbox or "", source), (box, target))


async def remove(client: Client, random: Random) -> None:
    """Mark and expunge, all of it or what is named."""
    if client.read_only or client.mailbox not in STRICT or len(client.slots) < 5:
        return
    slots = [client.slots[at] for at in picked(random, client.slots, 4)]
    uids = [slot.uid for slot in slots if slot.uid is not None]
    if not uids:
        await learn(client)
        return
    client.ledger.condemn(client.mailbox, uids)
    client.unlearn(slots)
    await client.say(f"UID STORE {spelled(uids)} +FLAGS.SILENT (\\Deleted)")
    await client.say(random.choice(("EXPUNGE", f"UID EXPUNGE {spelled(uids)}", f"UID EXPUNGE {spelled(uids)}")))


async def several(client: Client, random: Random) -> None:
    """Commands in one go; by number only where nothing in between may take numbers away."""
    if not client.slots:
        return
    if client.by_uid_only or random.random() < 0.5:
        texts = ["UID FETCH 1:* FLAGS", "NOOP", "UID SEARCH UNSEEN", "UID FETCH * UID"]
    else:
        top = len(client.slots)
        texts = [f"FETCH {random.randint(1, top)} (UID FLAGS)", "SEARCH SEEN", f"FETCH {top} (UID RFC822.SIZE)"]
    await client.say_all([(text, ()) for text in texts])
