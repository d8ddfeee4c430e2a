"""How fast this machine is just now, so that a bound on processor time can be a multiple of it.

The rule: no test compares with seconds; it compares with `unit()`, measured beside it. Figures in seconds are for
`make bench`.
"""

import time
from collections.abc import Callable

ROUNDS = 20_000


def spent(run: Callable[[], object], tries: int = 5) -> float:
    """Seconds of processor time of the fastest of several runs."""
    found = []
    for _ in range(tries):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def _work() -> int:
    table: dict[bytes, int] = {}
    for number in range(ROUNDS):
        word = b"%d" % (number % 997)
        table[word] = table.get(word, 0) + len(word.strip())
    return len(table)


def unit() -> float:
    """Seconds of processor time of a fixed piece of plain Python: about 3.5 ms where the bounds were set."""
    return spent(_work)
