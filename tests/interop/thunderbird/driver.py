"""Thunderbird as a process on an Xvfb screen, and Marionette, the wire by which it is told what to do.

What is asked of Thunderbird is JavaScript in its own chrome; `until` waits inside it, so that Python never polls.
"""

import json
import os
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from tests.interop.support import Postroom, clean_environment, need
from tests.interop.thunderbird.profile import make_profile

PROGRAM = "/usr/lib/thunderbird/thunderbird"
SECONDS = 40
SIZE = "1280x900"

# The names that scripts use. `until` waits in steps of 100 ms until a function gives something true.
_PRELUDE = r"""
const {MailServices} = ChromeUtils.importESModule('resource:///modules/MailServices.sys.mjs');
const {setTimeout: later} = ChromeUtils.importESModule('resource://gre/modules/Timer.sys.mjs');
const pause = ms => new Promise(done => later(done, ms));
const until = async (what, seconds = 40) => {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    let found = null;
    try { found = await what(); } catch (error) { if (Date.now() > end) throw error; }
    if (found) return found;
    if (Date.now() > end) return null;
    await pause(100);
  }
};
const main = () => Services.wm.getMostRecentWindow('mail:3pane');
const pane = () => main().document.getElementById('tabmail').currentAbout3Pane;
const server = () => MailServices.accounts.allServers.find(one => one.type == 'imap');
const walk = folder => [folder, ...folder.subFolders.flatMap(walk)];
const folder = name => {
  const found = walk(server().rootFolder).find(one => one.name.toLowerCase() == name.toLowerCase());
  return found && found.QueryInterface(Ci.nsIMsgImapMailFolder);
};
const messages = box => [...box.msgDatabase.enumerateMessages()];
const bySubject = (box, words) => messages(box).find(one => one.mime2DecodedSubject.includes(words));
const done = start => new Promise((ok, no) => start({
  QueryInterface: ChromeUtils.generateQI(['nsIUrlListener']), OnStartRunningUrl() {},
  OnStopRunningUrl(url, code) { code ? no(new Error('failed 0x' + code.toString(16))) : ok(true); }}));
const compose = () => {
  const window = Services.wm.getMostRecentWindow('msgcompose');
  const ready = window && window.gMsgCompose && window.gMsgCompose.editor && window.document.readyState == 'complete';
  return ready ? window : null;
};
const show = async (box, words) => {
  pane().displayFolder(box.URI);
  const header = await until(() => bySubject(box, words));
  const row = await until(() => {
    const view = pane().gDBView;
    view.doCommand(Ci.nsMsgViewCommandType.expandAll);  // a row of a folded thread cannot be found
    return view.findIndexOfMsgHdr(header, true) + 1;
  });
  pane().threadTree.selectedIndex = row - 1;
  return header;
};
const shown = words => until(() => {
  const about = main().document.getElementById('tabmail').currentAboutMessage;
  const browser = about && about.getMessagePaneBrowser();
  const body = browser && browser.contentDocument && browser.contentDocument.body;
  return body && body.textContent.includes(words) ? body.textContent : null;
});
"""


class Screen:
    """An X server without a monitor."""

    def __init__(self) -> None:
        need("Xvfb", "xvfb")
        reading, writing = os.pipe()
        self._process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{SIZE}x24", "-nolisten", "tcp"],
            pass_fds=[writing],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        with os.fdopen(reading) as pipe:  # number and newline may come apart: read to the newline
            self.display = f":{pipe.readline().strip()}"

    def picture(self, path: Path) -> None:
        """Save what the screen shows as PNG."""
        need("import", "imagemagick")
        environment = clean_environment(None, DISPLAY=self.display)
        subprocess.run(["import", "-window", "root", path], env=environment, timeout=30, check=True)

    def close(self) -> None:
        """End the X server."""
        self._process.terminate()
        self._process.wait(10)


class Thunderbird:
    """A running Thunderbird with an account of this server."""

    def __init__(self, folder: Path, server: Postroom, road: str) -> None:
        if not Path(PROGRAM).exists():
            pytest.fail("Thunderbird is not installed: apt-get install thunderbird")
        need("certutil", "libnss3-tools")
        self._folder = folder
        self.screen = Screen()
        profile = folder / "profile"
        make_profile(profile, server, road)
        quiet = {"MOZ_DISABLE_AUTO_SAFE_MODE": "1", "MOZ_CRASHREPORTER_DISABLE": "1", "GTK_USE_PORTAL": "0"}
        quiet |= {"NO_AT_BRIDGE": "1", "MOZ_DBUS_REMOTE": "0", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        quiet |= {"XDG_RUNTIME_DIR": str(profile), "DISPLAY": self.screen.display}
        self._process = subprocess.Popen(
            [PROGRAM, "--profile", profile, "--no-remote", "--marionette", "--remote-allow-system-access"],
            env=clean_environment(profile, **quiet),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._wire = Marionette(self._port())

    def __enter__(self) -> "Thunderbird":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            with suppress(subprocess.SubprocessError):
                self.screen.picture(self._folder / "failure.png")
        self._quit()
        self.screen.close()

    def run(self, script: str, *arguments: object) -> Any:
        """Run a chrome script (its arguments are A[0]...); what it returns. Fails the test when it throws."""
        return self._wire.script(_PRELUDE + script, *arguments)

    def check(self, script: str, *arguments: object) -> Any:
        """Run a script whose result must be true."""
        found = self.run(script, *arguments)
        assert found, script
        return found

    def _port(self) -> int:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "Listening on port" in line:
                return int(line.split()[-1])
        pytest.fail("Thunderbird ended before it could be driven")

    def _quit(self) -> None:
        with suppress(OSError, RuntimeError, ConnectionError):
            self._wire.command("Marionette:Quit", {"flags": ["eForceQuit"]})
        self._wire.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)  # its own session: only what was started here
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class Marionette:
    """Just enough of Marionette's protocol: `<length>:[0,id,command,parameters]` and the answer to it."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._buffer = b""
        self._number = 0
        self._read()
        self.command("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": False}}})
        self.command("Marionette:SetContext", {"value": "chrome"})
        self.command("WebDriver:SetTimeouts", {"script": 110_000})

    def command(self, name: str, parameters: dict[str, object]) -> Any:
        """Send a command and return its result."""
        self._number += 1
        data = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(b"%d:" % len(data) + data)
        while True:
            answer = self._read()
            if answer[0] == 1 and answer[1] == self._number:
                break
        if answer[2]:
            raise RuntimeError(f"{answer[2].get('error')}: {answer[2].get('message')}")
        return answer[3]

    def script(self, body: str, *arguments: object) -> Any:
        """Run an asynchronous chrome script."""
        wrapped = (
            "const finish = arguments[arguments.length - 1]; const A = [...arguments].slice(0, -1);"
            f"(async () => {{{body}}})().then(value => finish({{value}}), "
            "error => finish({error: String(error) + ' ' + (error && error.stack || '')}));"
        )
        parameters = {"script": wrapped, "args": list(arguments), "sandbox": "system", "newSandbox": False}
        result = self.command("WebDriver:ExecuteAsyncScript", parameters)["value"]
        if "error" in result:
            pytest.fail(f"in Thunderbird: {result['error']}")
        return result.get("value")

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _read(self) -> Any:
        while b":" not in self._buffer:
            self._more()
        length, _, rest = self._buffer.partition(b":")
        self._buffer = rest
        while len(self._buffer) < int(length):
            self._more()
        message, self._buffer = self._buffer[: int(length)], self._buffer[int(length) :]
        return json.loads(message)

    def _more(self) -> None:
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError("Marionette has closed")
        self._buffer += data
