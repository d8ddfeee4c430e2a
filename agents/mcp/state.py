"""How a server is, and how patient its owner is; plain data that needs no SDK."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Where a server stands. `WAITING`: the last attempt failed or ended, the next one comes after a pause."""

    OFF = "off"
    STOPPED = "not running"
    STARTING = "starting"
    CONNECTED = "connected"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: to connect, to leave, to answer a listing; the first pause between attempts and the longest; how long a
    connection must have held to begin again with the first; and between two looks at the tools.
    """

    start: float = 20.0
    leave: float = 10.0
    check: float = 5.0
    first: float = 0.5
    most: float = 60.0
    stable: float = 30.0
    relist: float = 600.0


@dataclass(frozen=True, slots=True)
class Busy:
    """A call under way, and how far it says it is."""

    tool: str
    progress: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """A server at one moment. `about` is what it says it is, `lines` the last of its standard error, cleaned."""

    name: str
    transport: str
    where: str
    state: State
    error: str = ""
    about: str = ""
    starts: int = 0
    garbage: int = 0
    lines: tuple[str, ...] = ()
    busy: tuple[Busy, ...] = ()
