"""Every dialogue of this folder, played against the real product; each file is one test."""

from pathlib import Path

import pytest

from tests.dialogues.script import read
from tests.dialogues.stage import Clock, Stage

FILES = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
async def test_dialogue(file: Path, tmp_path: Path, clock: Clock) -> None:
    await Stage(read(file), tmp_path / "home", clock).play()
