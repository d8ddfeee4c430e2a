"""What has to hold when all errands are over: nothing accepted is lost, nothing happened twice, nothing is left open.

The rule: looked at from below (the tables, the store's own check) by a start of the program in this process, which must
find nothing to recover that changes the outcome; and every fault is told, not only the first.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial

from agents import context, history, store
from agents.ports import ReadTx
from agents.runtime import Runtime
from bridge.app import App
from bridge.identity import Identity
from config.load import load
from config.paths import DataFolder
from mailstore import accounts
from mailstore.store import FILE
from tests.crash.lives import PORTS, House
from tests.crash.user import Errand, User
from tests.post.desk import Desk, Kept, Person

LAST = "('result', 'failure')"
NEVER = {
    "a run has not ended": "SELECT id, state FROM runs WHERE ended IS NULL",
    "mail waits to be acted on": "SELECT id, state FROM arrivals WHERE state <> 'done'",
    "a call has no result": "SELECT id, state FROM tool_calls WHERE ended IS NULL OR result IS NULL",
    "a request is open": "SELECT code FROM requests WHERE state = 'open'",
    "an approval is pending": "SELECT id FROM approvals WHERE state = 'pending'",
    "an approval was spent twice": (
        "SELECT call FROM approvals WHERE spent_at IS NOT NULL GROUP BY call HAVING count(*) > 1"
    ),
    "a model call is open": "SELECT id FROM model_calls WHERE state = 'reserved'",
    "money is set aside": "SELECT * FROM ledger WHERE reserved_u <> 0",
    "a mail is under way": "SELECT key, state FROM outbox WHERE state IN ('queued', 'sending', 'data_sent')",
    "a run has not exactly one last mail": (
        "SELECT r.id, count(o.key) FROM runs AS r"
        f" LEFT JOIN outbox AS o ON o.run = r.id AND o.kind IN {LAST} AND o.state = 'sent'"
        " WHERE r.depth = 0 GROUP BY r.id HAVING count(o.key) <> 1"
    ),
    "a run has not exactly one end in its journal": (
        "SELECT run, count(*) FROM audit WHERE what IN ('run.done', 'run.failed', 'run.cancelled')"
        " GROUP BY run HAVING count(*) <> 1"
    ),
}


def faults(user: User) -> list[str]:
    """Everything that does not hold; empty when all is well."""
    return asyncio.run(_faults(user))


async def _faults(user: User) -> list[str]:
    house = user.house
    ports = {f"listen.{name}": 0 for name in PORTS}
    app = await App.open(load(home=house.home, flags=ports, environ={}), DataFolder(house.home))
    try:
        await app.start()
        desk = Desk(app, house.sink)
        await desk.settled()
        await app.store.housekeeping.settle()
        found = [f"the store: {fault}" for fault in await app.store.check()]
        found += _tables(house)
        runs = [str(row[0]) for row in _rows(house, "SELECT id FROM runs")]
        found += app.store.read(partial(_histories, runtime=app.runtime, runs=runs))
        found += _mailboxes(user, _person(desk))
        for errand in user.errands:
            found += _errand(user, errand)
        return found
    finally:
        await app.close()


def _person(desk: Desk) -> Person:
    account = desk.app.store.read(lambda tx: accounts.all(tx))[0]
    return Person(desk, Identity(account.id, account.name, account.address, "laptop", 1))


def _rows(house: House, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{house.home / FILE}?mode=ro", uri=True)) as db:
        return db.execute(sql, values).fetchall()


def _tables(house: House) -> Iterator[str]:
    for what, sql in NEVER.items():
        if rows := _rows(house, sql):
            yield f"{what}: {rows[:4]}"


def _histories(tx: ReadTx, runtime: Runtime, runs: list[str]) -> list[str]:
    """The history that each run would be given next is valid: a result for each call, once."""
    found: list[str] = []
    for run in runs:
        found += history.faults(context._messages(tx, runtime._office, store.get_run(tx, run), 0))
    return found


def _mailboxes(user: User, person: Person) -> Iterator[str]:
    inbox = person.mails("INBOX")
    ids = Counter(_id(kept) for kept in inbox)
    yield from (f"INBOX holds {one} {n} times" for one, n in ids.items() if n > 1)
    kept = {int(mail.uid): _id(mail) for mail in inbox}
    yield from (f"UID {uid} was {one} and is {kept.get(uid)}" for uid, one in user.seen.items() if kept.get(uid) != one)
    yield from (f"Action still shows {mail.message['Subject']}" for mail in person.mails("Action"))
    sent = Counter(_id(kept) for kept in person.mails("Sent"))
    for errand in user.errands:
        for posted in errand.posted:
            wanted = 0 if posted.dropped else 1
            if sent[posted.message_id] != wanted:
                yield f"Sent holds {posted.mail['Subject']} {sent[posted.message_id]} times"
    folder = Counter(_id(kept) for kept in person.mails("Agents/Assistant"))
    dropped = [posted.message_id for errand in user.errands for posted in errand.posted if posted.dropped]
    yield from (f"the hand-over folder holds {one} {folder[one]} times" for one in dropped if folder[one] != 1)
    for mail in person.mails("Activity"):
        if not any(f"[{state}]" in mail.message["Subject"] for state in ("done", "failed")):
            yield f"Activity is behind: {mail.message['Subject']}"


def _id(kept: Kept) -> str:
    return str(kept.message["Message-ID"])


def _errand(user: User, errand: Errand) -> Iterator[str]:
    least, most = errand.kind.sends
    arrived = len(user.arrived(errand))
    if errand.doubted:
        least = 0
    if not least <= arrived <= most:
        yield f"{errand.subject}: {arrived} mails left, where {least} to {most} may"
    if len(errand.ends) != 1:
        yield f"{errand.subject}: {len(errand.ends)} last mails"
    runs = _rows(user.house, "SELECT count(*) FROM runs WHERE depth = 0 AND subject = ?", errand.subject)[0][0]
    if runs != 1:
        yield f"{errand.subject}: {runs} runs"
