"""Every command and every extension, as dialogues."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bridge.imap.registry import EXTENSIONS, dialect_for
from config.settings import Imap
from tests.imap.harness import house_settings, open_house
from tests.imap.serving import SocketHouse, serve_house
from tests.transcripts.runner import Player, dialogues

FOLDER = Path(__file__).parent / "imap"
LIMIT = re.compile(r"^% message limit (\d+)$", re.MULTILINE)
OF_THE_HOUSE = re.compile(r"^% (tls required|extensions all|message limit \d+)$", re.MULTILINE)


TEXTS = {path.stem: path.read_text() for path in dialogues(FOLDER)}


@pytest.mark.parametrize("name", TEXTS)
async def test_dialogue(name: str, tmp_path: Path) -> None:
    await play(name, tmp_path)


@pytest.mark.parametrize("piece", [1, 7])
async def test_dialogues_in_pieces(piece: int, tmp_path: Path, count: Callable[[int, int], int]) -> None:
    """The same when what a client says arrives in pieces; by day those of the youngest extensions."""
    youngest = [name for name in TEXTS if name.startswith(("notify", "context", "append", "pairs"))]
    for number, name in enumerate((*youngest, *TEXTS)[: count(len(youngest), 1000)]):
        (tmp_path / str(number)).mkdir()
        await play(name, tmp_path / str(number), piece)


async def play(name: str, folder: Path, piece: int = 0) -> None:
    text = TEXTS[name]
    imap = Imap(extensions="all" if "% extensions all" in text else "default")
    limit = LIMIT.search(text)
    if limit:
        imap = replace(imap, message_limit=int(limit[1]))
    settings = house_settings(folder, require_tls="% tls required" in text, imap=imap)
    async with open_house(folder, ("ada", "bob"), settings=settings) as house:
        await Player(house, piece=piece).play(OF_THE_HOUSE.sub("", text), name)


@pytest.mark.parametrize("name", ["append", "fetch", "copy-move", "idle", "views", "list", "search"])
async def test_dialogue_over_tls_sockets(name: str, tmp_path: Path) -> None:
    """The same words over real sockets with TLS."""
    async with serve_house(tmp_path, ("ada", "bob")) as serving:
        house = SocketHouse.of(serving)
        try:
            await Player(house).play(TEXTS[name], name)
        finally:
            await house.hang_up()


def test_every_command_has_a_dialogue() -> None:
    """Each command that the full dialect knows is said by some client in some file."""
    said = "\n".join(TEXTS.values()).upper()
    commands = dialect_for(Imap(extensions="all")).commands
    assert [name for name in commands if f" {name.decode()}" not in said] == []


def test_every_extension_has_a_dialogue() -> None:
    """Each extension is named in the first lines of the file that shows it."""
    heads = "\n".join("\n".join(text.split("\n")[:3]) for text in TEXTS.values())
    assert [extension.name for extension in EXTENSIONS if extension.name not in heads] == []
