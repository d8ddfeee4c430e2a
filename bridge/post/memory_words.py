"""Memory by mail to the program itself: `memory`, `memory on`, `memory off`, `remember: ...`, `forget N-...`, and the
answers to a note's own message.

The rule: only the owner's own words count, as the whole new text; what they write here is trusted, since they wrote it.
"""

import re
from collections.abc import Iterable
from typing import Final

from agents.memory import Memory
from agents.notes import Note, NotKept, is_on, named, of_account
from agents.ports import WriteTx
from bridge.post.shown import visible

_SWITCH: Final = re.compile(r"memory (on|off)", re.IGNORECASE)
_REMEMBER: Final = re.compile(r"remember\s*:\s*(.+)", re.IGNORECASE | re.DOTALL)
_FORGET: Final = re.compile(r"forget ((?:n-[0-9a-z]{6}(?:, ?| |$)){1,50})", re.IGNORECASE)
_EDIT: Final = re.compile(r"edit\s*:?\s*\n(.+)", re.IGNORECASE | re.DOTALL)
_LIST: Final = frozenset({"memory", "notes"})
_ALL: Final = "forget everything"
OFF: Final = 'Memory is off: nothing is noted, and no note is read. "memory on" to this address turns it on.'
ON: Final = (
    "Memory is on: agents may keep short notes, and read them in later tasks. Each is a message in the mailbox Memory; "
    "to delete one is to forget it."
)
_NO_WORD: Final = (
    'Nothing was changed: answer a note with "forget" alone, or with "edit" in the first line and the new text below.'
)


def obey(tx: WriteTx, memory: Memory, account: int, words: str, key: str, by: str, via: str) -> str | None:
    """Do what the words say; the answer, or None when they are about something else."""
    plain = " ".join(words.split()).strip(" .!")
    if plain.lower() in _LIST:
        return listed(memory, is_on(tx, account), of_account(tx, account))
    if switch := _SWITCH.fullmatch(plain):
        on = switch[1].lower() == "on"
        memory.turn(tx, account, on, by, via)
        return ON if on else f"{OFF} The notes there are stay until you delete them."
    if said := _REMEMBER.fullmatch(words.strip()):
        return _write(tx, memory, account, said[1], key)
    if plain.lower() == _ALL:
        return forget_all(tx, memory, account)
    if asked := _FORGET.fullmatch(plain):
        names = dict.fromkeys(asked[1].upper().replace(",", " ").split())
        return "\n".join(_forget(tx, memory, account, name) for name in names)
    return None


def answer(tx: WriteTx, memory: Memory, account: int, answered: Iterable[str], words: str) -> str | None:
    """Do what an answer to a note's message says; None when it answers no note."""
    answered = tuple(answered)
    note = memory.of_mail(tx, account, answered)
    if note is None:
        gone = memory.is_message(tx, account, answered)
        return "Nothing was changed: this note was forgotten before." if gone else None
    if " ".join(words.split()).strip(" .!").lower() == "forget":
        memory.forget(tx, note, "its owner said so")
        return f"Forgotten: {visible(note.title)}"
    edited = _EDIT.fullmatch(words.strip())
    if edited is None:
        return _NO_WORD
    try:
        memory.change(tx, note, edited[1])
    except NotKept as no:
        return f"Nothing was changed. {no.why}"
    return "Changed: the note now has your words."


def listed(memory: Memory, on: bool, found: list[Note]) -> str:
    """Every note with who reads it, as Markdown."""
    if not found:
        return f"{ON if on else OFF}\n\nThere are no notes."
    how = 'To forget one, delete its message, or write "forget" and its name to this address.'
    return "\n\n".join([ON if on else OFF, *(described(memory, note) for note in found), how])


def described(memory: Memory, note: Note) -> str:
    """One note in a list: its name and what is particular about it, then its words as they stand."""
    facts = ["in Trash, not read"] if note.state == "off" else []
    facts += ["learned from text of others"] if note.taint else []
    head = f"{note.code}, for {memory.whose(note)}" + (f" ({'; '.join(facts)})" if facts else "")
    return "\n".join([f"{head}:", "", *(f"    {line}" for line in visible(note.text).split("\n"))])


def forget_all(tx: WriteTx, memory: Memory, account: int) -> str:
    """Forget every note of an account."""
    found = of_account(tx, account)
    for note in found:
        memory.forget(tx, note, "its owner said so")
    return f"Forgotten: all {len(found)} notes." if found else "There are no notes."


def _write(tx: WriteTx, memory: Memory, account: int, text: str, key: str) -> str:
    try:
        note = memory.write(tx, account, text, f"mail.{key}")
    except NotKept as no:
        return f"Not noted. {no.why}"
    return f"Noted as {note.code}, for all your agents." + ("" if is_on(tx, account) else f"\n\n{OFF}")


def _forget(tx: WriteTx, memory: Memory, account: int, name: str) -> str:
    note = named(tx, account, name)
    if note is None:
        return f"There is no note {name}; nothing was changed."
    memory.forget(tx, note, "its owner said so")
    return f"{name} is forgotten."
