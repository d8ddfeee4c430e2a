"""What a start leaves out and the first mail needs, loaded once everything listens: neither waits for the other.

The rule: nothing depends on it. Who uses one of these modules imports it there and then, and finds it loaded or not.
"""

from importlib import import_module
from typing import Final

MODULES: Final = (
    "bridge.smtp.protocol",
    "bridge.post.reading",
    "agents.models.demo.plan",
    "agents.models.demo.task",
)


def read_ahead() -> None:
    """Load them. On a thread: it takes a few tenths of a second."""
    for name in MODULES:
        import_module(name)
