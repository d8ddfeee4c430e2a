"""A command line over a fresh data folder, and a real server on free ports."""

import os
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bridge.cli.program import run
from bridge.demo.server import Server

PASSWORD = "correct horse battery"
CONFIGURATION = """
[relay]
host = "127.0.0.1"
port = {relay}
tls = "none"
from = "ada@harbour.example"
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What a command came to."""

    code: int
    out: str
    err: str


Cli = Callable[..., Result]


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No settings of whoever runs the tests, wide output, and this process's file mode as it was."""
    for name in [name for name in os.environ if name.startswith("POSTROOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def cli(home: Path, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run `postroom` on the data folder, in this process."""

    def call(*arguments: str, home: Path | None = home) -> Result:
        capsys.readouterr()
        code = run([*arguments, *([] if home is None else ["--home", str(home)])])
        told = capsys.readouterr()
        return Result(code, told.out, told.err)

    return call


@pytest.fixture
def password_file(tmp_path: Path) -> Path:
    path = tmp_path / "password"
    path.write_text(f"{PASSWORD}\n")
    path.chmod(0o600)
    return path


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    """A server that is set up but not started; whatever runs in the end is killed."""
    made = Server(tmp_path)
    await made.set_up("ada", PASSWORD, CONFIGURATION.format(relay=9))
    yield made
    await made.kill()
