"""A mail hook: "hook backup", set off by mail to an address that holds its token."""

from typing import Final

from agents.rule import Event, read_event

KIND: Final = "hook"


def read(text: str) -> Event | None:
    return read_event(text, KIND, 'whenever mail comes to its hook "{name}"')
