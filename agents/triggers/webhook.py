"""A webhook: "webhook deploy", set off by an HTTP request that knows its secret."""

from typing import Final

from agents.rule import Event, read_event

KIND: Final = "webhook"


def read(text: str) -> Event | None:
    return read_event(text, KIND, 'whenever its webhook "{name}" is called')
