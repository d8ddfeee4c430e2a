"""A running Postroom and what looks at it from outside: the server's process, an observer, programs and terminals.

The rule: a client's own word is never believed. The Observer (IMAPClient, its own connection) says what is on the
server, and every wait is for an event (IDLE, output of the program) with a bound.
"""

import email.header
import email.policy
import email.utils
import os
import select
import shutil
import signal
import smtplib
import ssl
import subprocess
import sys
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage, Message
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from imapclient import IMAPClient

BOUND = 30.0
USER = "ada"
ADDRESS = "ada@postroom.internal"
PASSWORD = "sesame open 1"
PORTS = ("imap", "imaps", "smtp", "smtps", "web")


@dataclass(frozen=True)
class Postroom:
    """A server process and how to reach it. `folder` is a scratch folder of this server's tests."""

    process: subprocess.Popen[str]
    imap: int
    imaps: int
    smtp: int
    smtps: int
    ca: Path
    folder: Path

    @property
    def trust(self) -> ssl.SSLContext:
        """A client's context."""
        return ssl.create_default_context(cafile=self.ca)

    def send(
        self,
        subject: str,
        body: str = "hello\n",
        to: str = ADDRESS,
        html: str | None = None,
        attachment: tuple[str, str] | None = None,
    ) -> None:
        """Send a mail by SMTP over TLS, to its own sender unless told otherwise."""
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = ADDRESS, to, subject
        mail["Message-ID"] = f"<{uuid.uuid4().hex}@interop.test>"
        mail["Date"] = email.utils.localtime()
        mail.set_content(body)
        if html is not None:
            mail.add_alternative(html, subtype="html")
        if attachment is not None:
            mail.add_attachment(attachment[1], filename=attachment[0])
        with smtplib.SMTP_SSL("localhost", self.smtps, context=self.trust, timeout=BOUND) as smtp:
            smtp.login(USER, PASSWORD)
            smtp.send_message(mail)

    def stop(self) -> None:
        """End the process as a service manager would."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(BOUND)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()


def start(folder: Path, settings: str = "") -> Postroom:
    """Make a data folder with `postroom init` and serve it on free ports; `settings` is TOML beside the defaults."""
    home, ready, secret = folder / "home", folder / "ready.json", folder / "password"
    home.mkdir(mode=0o700)
    secret.write_text(PASSWORD)
    secret.chmod(0o600)
    program = [sys.executable, "-m", "bridge.cli"]
    subprocess.run(
        [*program, "init", "--home", home, "--user", USER, "--password-file", secret],
        check=True,
        timeout=BOUND,
        capture_output=True,
    )
    config = folder / "settings.toml"
    config.write_text(settings)
    ports = [argument for port in PORTS for argument in (f"--{port}-port", "0")]
    log = open(folder / "server.log", "w")  # noqa: SIM115 - the process writes to it as long as it lives
    process = subprocess.Popen(
        [*program, "serve", "--home", home, "--config", config, "--ready-file", ready, *ports],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    return Postroom(process=process, folder=folder, **_read_ready(process, ready, log))


def _read_ready(process: subprocess.Popen[str], ready: Path, log: Any) -> dict[str, Any]:
    """Read the server's log until it says that it is ready; a thread keeps reading after that."""
    import json
    import threading

    assert process.stderr is not None
    for line in process.stderr:
        log.write(line)
        if '"ready"' in line:
            break
    else:
        log.close()
        pytest.fail(f"postroom serve ended: {Path(log.name).read_text()[-2000:]}")

    def drain(stream: Any) -> None:
        with log, stream:
            log.writelines(stream)

    threading.Thread(target=drain, args=(process.stderr,), daemon=True).start()
    told = json.loads(ready.read_text())
    return {name: told[name] for name in ("imap", "imaps", "smtp", "smtps")} | {"ca": Path(told["ca"])}


@dataclass(frozen=True)
class Seen:
    """One message as the observer sees it."""

    uid: int
    flags: frozenset[str]
    subject: str


class Observer:
    """The mailboxes, seen by IMAPClient on a connection of its own."""

    def __init__(self, server: Postroom) -> None:
        self._server = server
        self.client = IMAPClient("localhost", server.imaps, ssl_context=server.trust, timeout=BOUND)
        self.client.login(USER, PASSWORD)

    def find(self, folder: str, subject: str) -> list[Seen]:
        """The messages of a folder whose subject holds `subject`."""
        if not self.client.folder_exists(folder):
            return []
        self.client.select_folder(folder, readonly=True)
        uids = self.client.search(["ALL"])
        if not uids:
            return []
        rows = self.client.fetch(uids, ["FLAGS", "ENVELOPE"])
        found = []
        for uid, row in sorted(rows.items()):
            text = str(email.header.make_header(email.header.decode_header((row[b"ENVELOPE"].subject or b"").decode())))
            if subject in text:
                found.append(Seen(uid, frozenset(flag.decode() for flag in row[b"FLAGS"]), text))
        return found

    def until(self, folder: str, subject: str, holds: Callable[[list[Seen]], object] = bool) -> list[Seen]:
        """Wait (by IDLE) until `holds` is true of what `find` says. Fails the test when that does not come true."""
        found = self.find(folder, subject)
        for _ in range(200):
            if holds(found):
                return found
            self.client.select_folder(folder, readonly=True)
            found = self.find(folder, subject)
            if holds(found):
                return found
            self.client.idle()
            news = self.client.idle_check(timeout=BOUND)
            self.client.idle_done()
            found = self.find(folder, subject)
            if not news and not holds(found):
                break
        if holds(found):
            return found
        pytest.fail(f"{folder} never came to hold it: {found}")

    def flags(self, folder: str, subject: str, *wanted: str) -> None:
        """Wait until the message of this subject has these flags."""
        self.until(folder, subject, lambda found: any(set(wanted) <= seen.flags for seen in found))

    def gone(self, folder: str, subject: str) -> None:
        """Wait until no message of this subject is left."""
        self.until(folder, subject, lambda found: not found)

    def source(self, folder: str, subject: str) -> Message:
        """The first message of this subject, parsed."""
        found = self.until(folder, subject)
        self.client.select_folder(folder, readonly=True)
        raw = self.client.fetch([found[0].uid], ["BODY.PEEK[]"])[found[0].uid][b"BODY[]"]
        return email.message_from_bytes(raw, policy=email.policy.compat32)

    def close(self) -> None:
        """Log out."""
        self.client.logout()


def token() -> str:
    """A word that stands nowhere else."""
    return f"t{uuid.uuid4().hex[:10]}"


class Missing(AssertionError):
    """A program is not installed. The test fails, unless --leave-out-missing-programs was given."""


def need(program: str, package: str) -> str:
    """The path of a program. Raises Missing."""
    path = shutil.which(program)
    if path is None:
        raise Missing(f"{program} is not installed: apt-get install {package}")
    return path


def run(
    command: Sequence[str | Path], *, text: str | None = None, home: Path | None = None, **environment: str
) -> tuple[int, str]:
    """Run a client to its end; exit status and output."""
    done = subprocess.run(
        list(command),
        input=text,
        stdin=None if text is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=2 * BOUND,
        check=False,
        env=clean_environment(home, **environment),
    )
    return done.returncode, done.stdout


def clean_environment(home: Path | None, **more: str) -> dict[str, str]:
    """An environment that holds nothing of the person who runs the tests."""
    base = {"PATH": os.defpath, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    return base | ({"HOME": str(home)} if home is not None else {}) | more


def quoted(text: str) -> str:
    """For configuration files that know backslash and double quote."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class Terminal:
    """A terminal program on a tmux server of its own. What it prints also goes into a pipe, which waits wait for."""

    def __init__(self, folder: Path, command: str, **environment: str) -> None:
        need("tmux", "tmux")
        self._socket = folder / "tmux"
        self._environment = clean_environment(folder, **(environment | {"TERM": "screen-256color"}))
        pipe = folder / "screen"
        os.mkfifo(pipe)
        self._pipe = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", f"{command}; exec cat")
        self._tmux("pipe-pane", f"cat > {pipe}")

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            print(self.text())
        self._tmux("kill-server")
        os.close(self._pipe)

    def text(self) -> str:
        """What the screen shows now."""
        return self._tmux("capture-pane", "-p").stdout

    def type(self, text: str) -> None:
        """Type characters as they are."""
        self._tmux("send-keys", "-l", text)

    def keys(self, *names: str) -> None:
        """Press keys by tmux's names ("Enter", "C-u")."""
        self._tmux("send-keys", *names)

    def until(self, *words: str) -> str:
        """Wait until one of the words is on the screen; returns it."""
        for _ in range(2000):
            screen = self.text()
            for word in words:
                if word in screen:
                    return word
            if not self._news():
                break
        pytest.fail(f"the screen never showed {' or '.join(words)}:\n{self.text()}")

    def _news(self) -> bool:
        """Wait until the program has printed something; False when it was silent too long."""
        ready, _, _ = select.select([self._pipe], [], [], BOUND)
        return bool(ready) and bool(os.read(self._pipe, 65536))

    def _tmux(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["tmux", "-S", self._socket, *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=BOUND,
            check=False,
        )
