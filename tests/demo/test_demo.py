"""The main job from end to end, with the words of the demo, with words it has not seen, and with things going wrong."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from bridge.demo import client, play
from bridge.demo.server import Server
from bridge.demo.story import Story, usual_story
from bridge.demo.timeline import Timeline
from bridge.sink import Sink
from tests.house.tree import ROOT

CHECKS = 18
SECONDS = 120


async def played(story: Story) -> tuple[bool, str]:
    """Play a story; whether all held, and what was shown."""
    shown = StringIO()
    timeline = Timeline(console=Console(file=shown, width=200, highlight=False))
    held = await play.run(timeline, story=story)
    return held, shown.getvalue()


def test_the_command_shows_the_main_job_and_ends_with_0(tmp_path: Path) -> None:
    """As a user runs it: no terminal, settings of their own Postroom in the environment, another working folder."""
    done = subprocess.run(
        [sys.executable, "-m", "bridge.cli", "demo", "--no-keep"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "POSTROOM_USER": "somebody", "TMPDIR": str(tmp_path)},
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"All {CHECKS} checks held" in done.stdout
    assert "FAILED" not in done.stdout
    assert done.stdout.count("  ok  ") == CHECKS
    assert "killed the server with SIGKILL" in done.stdout
    times = [float(found) for found in re.findall(r"^ *(\d+\.\d) s  ", done.stdout, re.MULTILINE)]
    assert times == sorted(times)
    assert len(times) >= 11
    assert list(tmp_path.iterdir()) == []


STORIES = [
    Story(
        subject="Minutes of the garden club",
        text="Please read the attached minutes and send a short summary to Tom, his address is tom@club.example.",
        attachment_name="minutes.md",
        attachment=(
            "# Garden club, 3 May\n\n"
            "The greenhouse roof leaks in two places and has to be mended before the tomatoes are planted. "
            "Karin has asked two firms for offers, and the cheaper one wants 640 euros.\n\n"
            "The seed swap is on 11 May at ten in the morning in the parish hall. Everybody brings a table. "
            "Last year 90 visitors came, so we print 150 leaflets this time.\n\n"
            "The water bill was 212 euros, twice as much as the year before. "
            "Nobody knows why, and Piet will look for a broken pipe on Saturday.\n"
        ),
        recipient="tom@club.example",
    ),
    Story(
        subject="Zusammenfassung",
        text="Send a summary of the attached file to anna.meier@firma.example please",
        attachment_name="Protokoll März.txt",
        attachment=(
            "Der Umzug in die neuen Räume beginnt am 4. April und dauert drei Tage. Die Möbel holt eine Spedition ab. "
            "Alle Rechner werden am Freitag abgebaut und am Montag wieder aufgestellt. Wer am Montag arbeiten muss, "
            "meldet sich bis Mittwoch bei Frau Özdemir. Die alten Schlüssel werden beim Hausmeister abgegeben. "
            "Für Getränke ist gesorgt, das Mittagessen bringt jeder selbst mit.\n"
        ),
        recipient="anna.meier@firma.example",
    ),
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.attachment_name)
async def test_other_words_other_files_and_other_people_do_as_well(story: Story) -> None:
    held, shown = await played(story)
    assert held, shown
    assert shown.count("  ok  ") == CHECKS


async def test_a_client_whose_sent_copy_has_other_bytes_does_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Bcc stands only in the client's copy, which takes the place of the server's while the agent is at work."""
    monkeypatch.setattr(client, "sent_copy", lambda raw: b"Bcc: you@postroom.internal\r\n" + raw)
    held, shown = await played(usual_story())
    assert held, shown


async def test_a_relay_that_refuses_the_mail_fails_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks can fail: here the relay knows no such recipient, so nothing is delivered."""
    monkeypatch.setattr(play, "SECONDS", 3.0)
    start = Sink.start

    async def refusing(sink: Sink, host: str = "127.0.0.1", port: int = 0) -> int:
        sink.refuse("rcpt", "550 5.1.1 no such person")
        return await start(sink, host, port)

    monkeypatch.setattr(Sink, "start", refusing)
    held, shown = await played(usual_story())
    assert not held
    assert "FAILED  the play went to its end" in shown


async def test_a_server_that_does_not_start_fails_the_demo_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "settings", lambda relay_port: "nonsense = 1\n")
    held, shown = await played(usual_story())
    assert not held
    assert "nonsense" in shown


async def test_a_mail_that_is_sent_twice_fails_the_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sink pretends that the mail came twice: the check of "exactly once" has to notice."""
    quiet = play.Play._quiet

    async def doubled(self: play.Play, delivered: object) -> None:
        self.sink.messages.append(self.sink.messages[0])
        await quiet(self, self.sink.messages[0])

    monkeypatch.setattr(play.Play, "_quiet", doubled)
    held, shown = await played(usual_story())
    assert not held
    assert "FAILED  the mail went out exactly once: 2 times" in shown


async def test_kept_up_it_says_what_to_type_and_ends_on_ctrl_c() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bridge.cli", "demo", "--keep", stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    said = b""
    while b"goes nowhere" not in said:
        line = await asyncio.wait_for(process.stdout.readline(), SECONDS)
        assert line, said
        said += line
    process.send_signal(signal.SIGINT)
    rest, _ = await asyncio.wait_for(process.communicate(), 30)
    text = (said + rest).decode()
    for word in ("User name", "Password", "IMAP  localhost", "SMTP  localhost", "ca.pem"):
        assert word in text
    assert process.returncode == 0
    folder = re.search(r"(\S*postroom-demo-\w+)/data", text)
    assert folder is not None
    assert not await asyncio.to_thread(os.path.exists, folder[1])


def test_no_string_of_the_demo_is_known_to_the_agents() -> None:
    """The demo model has to do it by rules, not by heart."""
    story = usual_story()
    known = "\n".join(path.read_text() for path in (ROOT / "agents").rglob("*.py"))
    lines = [line.strip() for line in story.attachment.splitlines() if len(line.strip()) > 20]
    assert len(lines) > 15
    for line in [*lines, story.text, story.recipient, "maya"]:
        assert line not in known


@pytest.mark.parametrize(
    ("runs", "queued", "quiet"),
    [
        ({"done": 3, "failed": 1}, 0, True),
        ({"done": 2, "running": 1}, 0, False),
        ({}, 0, True),
        ({"done": 1}, 1, False),
    ],
)
def test_what_counts_as_nothing_left_to_do(runs: dict[str, int], queued: int, quiet: bool) -> None:
    assert play.idle({"runs": runs, "queues": {"mail for you": queued}}) is quiet


def test_a_summary_has_to_be_of_the_attachment() -> None:
    source = "The boat needs paint and a\nnew rope for the mast. It leaks at the bow since\r\nApril. Nobody knows why."
    assert play.quotes(
        "Hi,\n\n- The boat needs paint and a new rope for the mast.\n- It leaks at the bow since April.", source
    )
    assert not play.quotes(
        "Hi,\n\n- The boat needs paint and a new rope for the mast.\n- It is all quite wonderful.", source
    )


def test_what_was_sent_has_to_have_been_shown() -> None:
    request = "1. Send mail\n| Body  Hi Maya,\n|\n|       a long line that goes\n|+      on and on.\n"
    for line in ("Hi Maya,", "", "  a long line that goes on and on."):
        assert play.shows(request, line)
    for line in ("Hi Mia,", "a long line that goes on and on and on.", "Hi Maya, you"):
        assert not play.shows(request, line)


async def test_a_server_that_was_never_started_can_be_stopped(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert await server.stop() is None
    await server.kill()
    assert server.last_lines() == ""
