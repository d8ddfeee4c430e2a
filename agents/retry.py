"""When a failed model call is tried again: the only place that decides it.

The rule: one layer retries, this one, and every wait is a time in a row. Pure: the same tries give the same answer.
"""

from collections.abc import Sequence
from typing import Final

from agents.llm import ModelError, ModelFault
from agents.store import Try

SECOND: Final = 1000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE

QUICK: Final = (1 * SECOND, 2 * SECOND, 8 * SECOND, 30 * SECOND)
SLOW: Final = (15 * MINUTE, 30 * MINUTE, 60 * MINUTE, 120 * MINUTE)
PATIENCE: Final = 24 * HOUR
LONGEST_ASKED: Final = 15 * MINUTE
MAX_SHRINK: Final = 3


def next_try(tries: Sequence[Try], error: ModelError, now: int, shrink: int, spread: float = 0.0) -> int | None:
    """When to call again (UTC ms), or None: give up. `tries` are the failed ones before this; `spread` is 0..1, for
    jitter.
    """
    if error.kind is ModelFault.CONTEXT:
        return now if shrink < MAX_SHRINK else None
    if error.kind in (ModelFault.AUTH, ModelFault.REFUSED, ModelFault.GONE, ModelFault.QUOTA):
        return None
    first = tries[0].at if tries else now
    if now - first > PATIENCE:
        return None
    wait = _wait(len(tries), error)
    return now + wait + int(wait * 0.2 * spread)


def asked(error: ModelError) -> int | None:
    """The pause (ms) that a provider asked for, within reason; None when it named none."""
    if error.retry_after is None:
        return None
    return min(max(int(error.retry_after * SECOND), QUICK[0]), LONGEST_ASKED)


def _wait(failed_before: int, error: ModelError) -> int:
    if (pause := asked(error)) is not None:
        return pause
    if failed_before < len(QUICK):
        return QUICK[failed_before]
    return SLOW[min(failed_before - len(QUICK), len(SLOW) - 1)]
