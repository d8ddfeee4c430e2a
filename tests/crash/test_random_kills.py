"""A server that is killed again and again, at any moment, while a user goes on writing to it: one long history.

Unlike the points of `test_kill_points` the moments are those of the clock: while it starts, in the middle of a command,
while it answers. A relay that hangs up after the mail was handed over, having taken it or not, is mixed in.
"""

import random
import signal
import threading
from collections.abc import Callable
from functools import partial

import pytest

from tests.crash import verdict
from tests.crash.histories import Town, lived
from tests.crash.user import KINDS, Errand, User

HISTORIES = 4
AT_ONCE = 3
LONGEST = 0.7  # seconds; a life that long gets several errands forward


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_random_kills(seed: int, town: Town, count: Callable[[int, int], int]) -> None:
    kills = count(100, 500) // HISTORIES
    dice = random.Random(seed)
    with town.house() as house:
        user = User(house)
        for _ in range(kills):
            while sum(not errand.over for errand in user.errands) < AT_ONCE:
                user.errands.append(Errand(KINDS[dice.choice(list(KINDS))], len(user.errands) + 1))
            if dice.random() < 0.05:
                keep = dice.random() < 0.5
                house.outside.call(partial(house.sink.cut, "end", keep=keep))
            life = house.live()
            timer = threading.Timer(dice.uniform(0, LONGEST), life.signal, (signal.SIGKILL,))
            timer.start()
            over = lived(user, life)
            timer.cancel()
            assert over or life.status == -signal.SIGKILL, life.text()
        assert lived(user, house.live())
        assert verdict.faults(user) == [], f"seed {seed}, kept in {house.folder}"
