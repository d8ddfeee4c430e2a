"""A single time: "2026-12-01T14:00"."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from agents.rule import SpecFault, to_key

KIND: Final = "once"
_FORM: Final = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::00)?")


@dataclass(frozen=True, slots=True)
class Once:
    """Fires at one local minute and never again."""

    at: datetime

    @property
    def spec(self) -> str:
        return to_key(self.at)

    def after(self, wall: datetime) -> datetime | None:
        return self.at if self.at > wall else None

    def words(self) -> str:
        return f"once, on {self.at:%a} {self.at.day} {self.at:%b %Y, %H:%M}"


def read(text: str) -> Once | None:
    found = _FORM.fullmatch(text.strip())
    if found is None:
        return None
    try:
        return Once(datetime.fromisoformat(f"{found[1]}T{found[2]}"))
    except ValueError:
        raise SpecFault(f'"{text.strip()}" is no date and time like 2026-03-31T09:00') from None
