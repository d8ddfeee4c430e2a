"""Every dialogue of this folder, played against the real product; each file is one test."""

import re
from pathlib import Path

import pytest

from tests.dialogues.script import read
from tests.dialogues.stage import Clock, Stage

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
async def test_dialogue(file: Path, tmp_path: Path, clock: Clock) -> None:
    await Stage(read(file), tmp_path / "home", clock).play()


def test_the_table_names_every_dialogue_and_nothing_else() -> None:
    table = (HERE / "README.md").read_text("utf-8").partition("## Which dialogue shows what")[2]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")][1:]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row[1])}
    assert named == {file.stem for file in FILES}
    assert {row[2].strip() for row in rows} == {"2", "3", "5", "6", "7"}
