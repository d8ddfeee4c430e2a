"""Every command and every extension, as dialogues."""

from pathlib import Path

import pytest

from bridge.imap.registry import EXTENSIONS, dialect_for
from config.settings import Imap
from tests.imap.harness import house_settings, open_house
from tests.imap.serving import SocketHouse, serve_house
from tests.transcripts.runner import Player, dialogues

FOLDER = Path(__file__).parent / "imap"


TEXTS = {path.stem: path.read_text() for path in dialogues(FOLDER)}


@pytest.mark.parametrize("name", TEXTS)
async def test_dialogue(name: str, tmp_path: Path) -> None:
    text = TEXTS[name]
    imap = Imap(extensions="all" if "% extensions all" in text else "default")
    settings = house_settings(tmp_path, require_tls="% tls required" in text, imap=imap)
    async with open_house(tmp_path, ("ada", "bob"), settings=settings) as house:
        await Player(house).play(text.replace("% tls required", "").replace("% extensions all", ""), name)


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
