"""The invariants of the store, checked over the whole data.

The rule: what other modules keep true in each transaction is computed here from scratch and compared; a check never
repairs.
"""

from mailstore.transaction import ReadTx

_CHECKS = {
    "counters": "a mailbox's counters are wrong",
    "stored": "a message is not placed exactly once in its mailbox",
    "states": "a message and what changes of it disagree",
    "views": "a message stands in the wrong views",
    "lost-placements": "a placement leads nowhere",
    "contents": "the bytes of a message do not add up",
    "unused-contents": "bytes without a message will never be swept",
    "renderings": "renderings and the bytes they are of do not go together",
    "labels": "a label and what it does disagree",
    "threads": "a message is in another account's thread",
    "modseqs": "a mailbox is ahead of its account",
    "keyword-sets": "a message has keywords that do not exist",
    "log": "a message arrived and the log does not say so",
}


def check(tx: ReadTx) -> list[str]:
    """One line for each invariant that does not hold, with the first rows that break it."""
    faults = []
    for name, text in _CHECKS.items():
        rows = tx.all(f"mailstore.check.{name}")
        if rows:
            shown = ", ".join(str(tuple(row)) for row in rows[:5])
            faults.append(f"{text}: {shown}{' and more' if len(rows) > 5 else ''}")
    return faults
