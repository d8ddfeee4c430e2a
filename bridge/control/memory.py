"""Memory from the command line: turn it on and off for an account, list, write and forget notes.

The rule: a word from here does what the same word by mail does, and is audited alike.
"""

import uuid

from agents import notes
from agents.memory import Memory
from agents.notes import Note, NotKept
from bridge.control.ports import Desk, StoreDesk
from bridge.control.protocol import NOT_FOUND, REFUSED, Args, ControlError, Json
from bridge.control.who import chosen
from mailstore.sqlite import WriteTx

_VIA = "the command line"


async def listed(desk: StoreDesk, args: Args) -> Json:
    """Whether memory is on, and every note of an account."""
    account = chosen(desk, args.optional("account"))
    args.done()
    on, found = desk.store.read(lambda tx: (notes.is_on(tx, account.id), notes.of_account(tx, account.id)))
    return {"account": account.name, "on": on, "notes": [_told(note) for note in found]}


async def turn(desk: Desk, args: Args) -> Json:
    """Turn memory on or off for an account."""
    account, on = chosen(desk, args.optional("account")), args.flag("on")
    args.done()
    memory = desk.runtime.memory
    changed = await desk.store.write(lambda tx: memory.turn(tx, account.id, on, account.address, _VIA))
    return {"account": account.name, "on": on, "changed": changed}


async def add(desk: Desk, args: Args) -> Json:
    """Keep a note in the owner's words, for one agent or for all."""
    account, text, agent = chosen(desk, args.optional("account")), args.text("text"), args.optional("agent")
    args.done()
    if agent is not None and agent not in desk.settings.agents:
        known = ", ".join(sorted(desk.settings.agents))
        raise ControlError(NOT_FOUND, f"there is no agent {agent}", f"one of {known}")
    memory, key = desk.runtime.memory, f"cli.{uuid.uuid4().hex}"
    try:
        note = await desk.store.write(lambda tx: memory.write(tx, account.id, text, key, agent or notes.EVERYONE))
    except NotKept as no:
        raise ControlError(REFUSED, no.why.rstrip("."), "") from None
    return _told(note)


async def forget(desk: Desk, args: Args) -> Json:
    """Forget one note by its name, or all of an account (`note` left out)."""
    account, name = chosen(desk, args.optional("account")), args.optional("note")
    args.done()
    memory = desk.runtime.memory
    done = await desk.store.write(lambda tx: _forget(tx, memory, account.id, name))
    if name is not None and not done:
        raise ControlError(
            NOT_FOUND, f"account {account.name} has no note {name}", "`postroom memory list` shows those there are"
        )
    return {"forgotten": [note.code for note in done]}


def _forget(tx: WriteTx, memory: Memory, account: int, name: str | None) -> list[Note]:
    one = notes.named(tx, account, name) if name is not None else None
    found = notes.of_account(tx, account) if name is None else [one] if one is not None else []
    for note in found:
        memory.forget(tx, note, "its owner said so")
    return found


def _told(note: Note) -> Json:
    names = ("code", "agent", "text", "about", "taint", "state", "created", "updated")
    return {name: getattr(note, name) for name in names}
