"""The secrets of the test run: a planted leak is caught, and a key that is used stands nowhere but at its server."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agents.models.litellm_provider import close
from bridge.sink import Sink
from config.load import prepare_library_environment
from config.secrets import Secret
from config.settings import Agent, Model, default_models
from tests import canary
from tests.fakes.fake_llm import fake_llm
from tests.post.desk import AGENT, opened

ROOT = Path(__file__).resolve().parents[2]
PLANT = """
import base64, logging, os
from tests.canary import pytest_configure, pytest_sessionfinish, pytest_terminal_summary, value

def test_innocent(tmp_path):
    (tmp_path / "x").write_text("nothing")

def test_guilty(tmp_path):
    {deed}
"""
DEEDS = {
    "file": '(tmp_path / "leak.bin").write_bytes(b"xx" + value().encode())',
    "base64": '(tmp_path / "leak.txt").write_bytes(base64.b64encode(value().encode()))',
    "output": "print(value())",
    "log": 'logging.getLogger("x").warning("key %s", value())',
    "error": 'raise ValueError(f"bad key {value()}")',
    "none": "pass",
}


@pytest.mark.parametrize("deed", DEEDS)
def test_a_planted_leak_fails_the_session(tmp_path: Path, deed: str) -> None:
    folder = tmp_path / "planted"
    folder.mkdir()
    (folder / "conftest.py").write_text(PLANT.split("def test_innocent")[0])
    (folder / "test_plant.py").write_text(PLANT.format(deed=DEEDS[deed]))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--rootdir",
        str(folder),
    ]
    made = tmp_path / "made"
    secret = "canary-planted-0123456789"
    environ = {"PATH": "", "PYTHONPATH": str(ROOT), canary.NAME: secret, "PYTHONDONTWRITEBYTECODE": "1"}
    told = subprocess.run(
        [*command, "--basetemp", str(made), str(folder)],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert told.returncode == (0 if deed == "none" else 1), told.stdout + told.stderr
    assert ("A SECRET WAS FOUND" in told.stdout) is (deed != "none"), told.stdout


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of LiteLLM and what it imports
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # sockets its clients leave open
async def test_a_key_in_use_is_nowhere_but_at_its_server(tmp_path: Path) -> None:
    """The provider refuses the key and repeats it in its error: mails, database, log and files hold none of it."""
    prepare_library_environment()
    key = Secret(f"env:{canary.NAME}", environ={canary.NAME: canary.value()})
    async with fake_llm() as fake:
        real = Model("real", model="openai/401", api_base=fake.base, api_key=key)
        agents = {"assistant": Agent("assistant", display="Assistant", model="real")}
        sink = Sink()
        port = await sink.start()
        models = {**default_models(), "real": real}
        async with opened(tmp_path / "home", sink, port, models=models, agents=agents) as house:
            ada = await house.person("ada")
            await ada.write(AGENT, "Hello", "Is anybody there?")
            failed = await ada.mail("Re: Hello")
            assert "refused the key" in failed.text
            assert canary.value() not in failed.text
            await house.settled()
        assert fake.requests
        assert list(canary.in_files(tmp_path, canary.value())) == []
        await sink.close()
        await close()


def test_the_houses_of_the_tests_have_the_secret_in_their_settings(tmp_path: Path) -> None:
    from tests.post.desk import settings_for

    made = settings_for(tmp_path, 25)
    assert [secret.reference for secret in made.secrets()] == [f"env:{canary.NAME}"] * 2
    assert {secret.reveal() for secret in made.secrets()} == {canary.value()}
    assert canary.value() not in f"{made}"
    assert replace(made, user="ben").models.keys() == {"demo", "canary"}
