"""What is wrong with a configuration: faults that say where, what and how to mend it, reported all at once."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. `file` is a path, or the flag or variable; `line` counts from 1; `key` is the dotted setting."""

    file: str | None
    line: int | None
    key: str
    message: str
    fix: str

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        return f"{': '.join(part for part in (place, self.key, self.message) if part)}\n    fix: {self.fix}"


class ConfigError(Exception):
    """The configuration cannot be used; `faults` holds every fault, at least one."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        super().__init__("\n".join([f"{count} in the configuration", *map(str, faults)]))
        self.faults = tuple(faults)
