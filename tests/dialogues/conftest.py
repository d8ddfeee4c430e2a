"""The clock of the dialogues, in the place of the machine's."""

import pytest

from bridge import app as composition
from tests.dialogues.stage import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(composition, "WallClock", lambda: made)
    return made
