"""How many connections, and how many wrong passwords, before somebody has to wait.

The rule: nobody on this machine is ever shut out. Wrong passwords from loopback are slowed, each login apart; only
peers on a network reach a hard limit, and they are told that it is one.
"""

import ipaddress
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

FIRST_DELAY: Final = 0.5  # seconds; hides how long a check took, so that an unknown user answers like a known one
LONGEST_DELAY: Final = 2.0
WINDOW: Final = 600.0  # seconds without a wrong password after which all is forgotten
NETWORK_FAILURES: Final = 20
REMEMBERED: Final = 4096


class LoginLimited(Exception):
    """Too many attempts; `seconds` is how long to wait. To be told as a limit, never as a wrong password."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"too many login attempts, try again in {seconds:.0f} s")
        self.seconds = seconds


@dataclass(slots=True)
class _Failures:
    count: int
    last: float


class LoginLimits:
    """Counts wrong passwords. `clock` gives monotonic seconds."""

    def __init__(
        self, clock: Callable[[], float], *, first_delay: float = FIRST_DELAY, longest_delay: float = LONGEST_DELAY
    ) -> None:
        self._clock = clock
        self._first = first_delay
        self._longest = longest_delay
        self._failures: OrderedDict[tuple[str, str], _Failures] = OrderedDict()

    def check(self, peer: str, login: str) -> None:
        """Raises LoginLimited when this peer has to wait first."""
        failures = self._known(peer, login)
        if failures is not None and failures.count >= NETWORK_FAILURES and not is_loopback(peer):
            raise LoginLimited(max(1.0, WINDOW - (self._clock() - failures.last)))

    def failed(self, peer: str, login: str) -> float:
        """Note a wrong password; returns the seconds that its answer should take, counted from the attempt."""
        failures = self._known(peer, login) or _Failures(0, 0.0)
        failures.count += 1
        failures.last = self._clock()
        key = _key(peer, login)
        self._failures[key] = failures
        self._failures.move_to_end(key)
        while len(self._failures) > REMEMBERED:
            self._failures.popitem(last=False)
        return min(self._longest, self._first * 2.0 ** min(failures.count - 1, 16))

    def succeeded(self, peer: str, login: str) -> None:
        """A right password clears the record."""
        self._failures.pop(_key(peer, login), None)

    def _known(self, peer: str, login: str) -> _Failures | None:
        failures = self._failures.get(_key(peer, login))
        return None if failures is None or self._clock() - failures.last > WINDOW else failures


class ConnectionLimits:
    """Counts open connections, all and those of one peer. Loopback counts only towards all: many users share it."""

    def __init__(self, total: int, per_peer: int) -> None:
        self.total = total
        self.per_peer = per_peer
        self._open: Counter[str] = Counter()

    def admit(self, peer: str) -> bool:
        """Count a new connection; False (and nothing counted) when there are too many."""
        if self._open.total() >= self.total or (self._open[peer] >= self.per_peer and not is_loopback(peer)):
            return False
        self._open[peer] += 1
        return True

    def leave(self, peer: str) -> None:
        """An admitted connection has ended."""
        self._open[peer] -= 1
        if self._open[peer] <= 0:
            del self._open[peer]


@lru_cache(maxsize=256)
def is_loopback(peer: str) -> bool:
    """Whether an address text is this machine's own (also ::ffff:127.0.0.1, and a Unix socket's empty name)."""
    if not peer:
        return True
    try:
        address = ipaddress.ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return address.is_loopback or (mapped is not None and mapped.is_loopback)


def _key(peer: str, login: str) -> tuple[str, str]:
    return (peer, login.casefold()) if is_loopback(peer) else (peer, "")
