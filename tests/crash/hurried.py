"""`postroom` with a store that does not wait for the disk (synchronous=NORMAL), so that a test can see itself fail."""

import sys
from functools import partial

from bridge.cli.program import run
from mailstore.sqlite import Database

if __name__ == "__main__":
    setattr(Database, "open", partial(Database.open, durable=False))  # noqa: B010 - mypy knows the method
    raise SystemExit(run(sys.argv[1:]))
