"""A watched mailbox of the outside world: "mailbox office", set off by each mail that comes in there."""

from typing import Final

from agents.rule import Event, read_event

KIND: Final = "mailbox"


def read(text: str) -> Event | None:
    return read_event(text, KIND, 'whenever mail comes into the watched mailbox "{name}"')
