"""Standing approvals by mail: `grants` lists them, `revoke G-7F3KQ2` takes one back.

The rule: the words stand alone, as the whole new text of a mail to the program itself; they only ever take leave away.
"""

import re
from typing import Final

from agents.grants import Grant
from agents.ports import WriteTx
from agents.runtime import Runtime
from agents.tool import show
from bridge.post.letters import when
from bridge.post.shown import shorten, visible

_REVOKE: Final = re.compile(r"revoke ((?:g-[0-9a-z]{6}(?:, ?| |$)){1,50})", re.IGNORECASE)
_LIST: Final = frozenset({"grants", "grant", "standing approvals"})
_NONE: Final = "You have no standing approvals: every request waits for you."
_HOW: Final = 'To take one back, write "revoke" and its name to this address.'


def obey(tx: WriteTx, runtime: Runtime, account: int, words: str, by: str, via: str) -> str | None:
    """Do what the words say; the answer, or None when they are about something else."""
    plain = " ".join(words.split()).strip(" .!")
    if plain.lower() in _LIST:
        return listed(runtime.grants(tx, account))
    found = _REVOKE.fullmatch(plain)
    if found is None:
        return None
    names = dict.fromkeys(found[1].upper().replace(",", " ").split())
    return "\n".join(_revoke(tx, runtime, account, name, by, via) for name in names)


def _revoke(tx: WriteTx, runtime: Runtime, account: int, name: str, by: str, via: str) -> str:
    if runtime.revoke_grant(tx, account, name, by, via):
        return f"{name} was taken back: you are asked again from now on."
    return f"There is no standing approval {name}; nothing was changed."


def listed(grants: list[Grant]) -> str:
    """Every standing approval with exactly what it allows, as Markdown."""
    if not grants:
        return _NONE
    return "\n\n".join([*map(_described, grants), _HOW])


def _described(grant: Grant) -> str:
    head = f"{grant.code}: {grant.tool} by {grant.agent}, {grant.uses_left} times more, until {when(grant.expires)}"
    return "\n".join([head, "", *(f"    {line}" for line in fields(grant))])


def fields(grant: Grant) -> list[str]:
    """The exact values a standing approval is for, a line each."""
    lines = []
    for name, value in grant.args.items():
        text = value if isinstance(value, str) else show(value)
        lines += [f"{name}: {line}" for line in visible(shorten(text).text).split("\n")]
    return lines
