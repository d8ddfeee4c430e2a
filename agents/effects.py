"""Running one effect in a task of its own, so that whatever ends it is a value.

The rule: no exception of an effect passes through whoever waits for it, and an effect never outlives them.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")
LET_GO: Final = 5.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an effect: its value, or the exception it ended with; neither when its time was over."""

    value: Any = None
    error: BaseException | None = None
    timed_out: bool = False


async def watch(effect: Coroutine[Any, Any, T], seconds: float) -> Outcome:
    """Run an effect in a task of its own for at most `seconds`. An effect's exception is a value here; a cancel of
    ours ends it first.
    """
    task = asyncio.ensure_future(effect)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=LET_GO)
            _hear(task)
    if not done:
        return Outcome(timed_out=True)
    if task.cancelled():
        return Outcome(error=asyncio.CancelledError())
    return Outcome(error=task.exception()) if task.exception() else Outcome(value=task.result())


def _hear(task: "asyncio.Future[T]") -> None:
    """Take notice of how a cut-off effect ended, so that asyncio does not complain of an exception nobody asked for."""
    if task.done() and not task.cancelled():
        task.exception()
