"""Thunderbird reads, flags, hears of new mail, moves, deletes, searches, replies; and approves what an agent asked.

Run by `make thunderbird`; with POSTROOM_TEST_PICTURES=FOLDER the screens of the main job are saved there.
"""

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.sink import Delivered, Sink
from tests.interop.support import Observer, Postroom, start, token
from tests.interop.thunderbird.driver import Thunderbird

pytestmark = [pytest.mark.interop, pytest.mark.desktop]

NOTES = """Notes from Tuesday.

Maya will send the harbour drawings by Friday. The budget for the pier is 40,000 euros and must not grow.
We open the new hall on 3 March. Bo looks for a caterer. Nobody has yet asked the neighbours about the noise.
"""


def picture(thunderbird: Thunderbird, name: str) -> None:
    """Save the screen where the person who runs the tests wants it."""
    folder = os.environ.get("POSTROOM_TEST_PICTURES")
    if folder:
        thunderbird.run("main().moveTo(0, 0); main().resizeTo(1280, 900); await pause(1000)")  # time to paint
        thunderbird.screen.picture(Path(folder) / f"{name}.png")


@pytest.mark.parametrize("road", ["tls", "starttls"])
def test_reads_and_changes(postroom: Postroom, observer: Observer, tmp_path: Path, road: str) -> None:
    word, pushed = token(), token()
    postroom.send(f"Desktop {word} – Grüße", f"Body {word}\n", html=f"<p>Body <b>{word}</b></p>")
    observer.until("INBOX", word)
    with Thunderbird(tmp_path, postroom, road) as thunderbird:
        thunderbird.check(
            "return !!await until(() => server() && folder('inbox') && folder('Archive') && folder('Action'))"
        )
        thunderbird.check("await show(folder('inbox'), A[0]); return await shown('Body ' + A[0])", word)
        observer.flags("INBOX", word, "\\Seen")
        thunderbird.run("folder('inbox').markMessagesFlagged([bySubject(folder('inbox'), A[0])], true)", word)
        thunderbird.run("folder('inbox').addKeywordsToMessages([bySubject(folder('inbox'), A[0])], '$label1')", word)
        observer.flags("INBOX", word, "\\Flagged", "$label1")

        postroom.send(f"Pushed {pushed}")
        thunderbird.check("return !!await until(() => bySubject(folder('inbox'), A[0]))", pushed)
        uid = observer.until("INBOX", pushed)[0].uid
        observer.client.select_folder("INBOX")
        observer.client.add_flags([uid], ["\\Flagged"])
        thunderbird.check("return !!await until(() => bySubject(folder('inbox'), A[0])?.isFlagged)", pushed)

        thunderbird.run(MOVE, word, "Archive")
        observer.until("Archive", word)
        observer.gone("INBOX", word)
        thunderbird.run("await done(l => folder(A[0]).updateFolderWithListener(null, l))", "Archive")
        thunderbird.check("return !!await until(() => bySubject(folder('Archive'), A[0]))", word)
        hits = thunderbird.run(SEARCH, word, "Archive")
        assert any(word in hit for hit in hits)
        thunderbird.run(
            "folder('inbox').deleteMessages([bySubject(folder('inbox'), A[0])], null, false, false, null, true)", pushed
        )
        observer.gone("INBOX", pushed)
        observer.until("Trash", pushed)


MOVE = """
await new Promise((ok, no) => MailServices.copy.copyMessages(folder('inbox'), [bySubject(folder('inbox'), A[0])],
  folder(A[1]), true, {onStartCopy() {}, onProgress() {}, setMessageKey() {}, getMessageId() {},
  onStopCopy(code) { code ? no(new Error('copy 0x' + code.toString(16))) : ok(); }}, null, true));
"""
SEARCH = """
const session = Cc['@mozilla.org/messenger/searchSession;1'].createInstance(Ci.nsIMsgSearchSession);
session.addScopeTerm(Ci.nsMsgSearchScope.onlineMail, folder(A[1]));
const term = session.createTerm(), value = term.value, hits = [];
term.attrib = Ci.nsMsgSearchAttrib.Body; term.op = Ci.nsMsgSearchOp.Contains;
value.attrib = term.attrib; value.str = A[0]; term.value = value; session.appendTerm(term);
await new Promise(ok => {
  session.registerListener({QueryInterface: ChromeUtils.generateQI(['nsIMsgSearchNotify']),
    onSearchHit(header) { hits.push(header.mime2DecodedSubject); }, onSearchDone() { ok(); }, onNewSearch() {}});
  session.search(null); later(ok, 15000);
});
return hits;
"""
REPLY = """
pane().commandController.doCommand('cmd_reply');
const window = await until(compose);
window.gMsgCompose.editor.beginningOfDocument();
window.gMsgCompose.editor.insertText(A[0] + '\\n');
return [await until(() => window.gMsgCompose.compFields.to), window.document.getElementById('msgSubject').value];
"""
SEND = """
compose().goDoCommand('cmd_sendNow');
return !!await until(() => !Services.wm.getMostRecentWindow('msgcompose'));
"""


def test_replies(postroom: Postroom, observer: Observer, tmp_path: Path) -> None:
    word, answer = token(), token()
    subject = f"Question {word}"
    postroom.send(subject, f"Will you answer {word}?\n")
    observer.until("INBOX", word)
    with Thunderbird(tmp_path, postroom, "tls") as thunderbird:
        thunderbird.check("return !!await until(() => server() && folder('inbox') && folder('Sent'))")
        thunderbird.check("await show(folder('inbox'), A[0]); return await shown(A[0])", word)
        thunderbird.run(REPLY, f"My answer is {answer}")
        thunderbird.check(SEND)
    sent = observer.source("Sent", f"Re: {subject}")
    arrived = observer.source("INBOX", f"Re: {subject}")
    assert answer in arrived.get_payload()
    assert arrived["Message-ID"] == sent["Message-ID"]
    assert arrived["In-Reply-To"]
    assert arrived["In-Reply-To"] in arrived["References"]
    assert len(observer.find("Sent", f"Re: {subject}")) == 1
    observer.flags("INBOX", subject, "\\Answered")


class Outside:
    """A sink in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.sink = Sink()
        self.port: int = asyncio.run_coroutine_threadsafe(self.sink.start(), self._loop).result(30)

    def wait(self, count: int) -> list[Delivered]:
        """The mails, once there are so many."""
        return asyncio.run_coroutine_threadsafe(self.sink.wait(count), self._loop).result(60)

    def close(self) -> None:
        """End it."""
        asyncio.run_coroutine_threadsafe(self.sink.close(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def outside() -> Iterator[Outside]:
    """The outside world."""
    made = Outside()
    yield made
    made.close()


def test_the_main_job(outside: Outside, tmp_path: Path) -> None:
    """A task goes in, the request shows up in Action, `approve` is answered, the mail goes out, the result lands."""
    settings = f'[relay]\nhost = "127.0.0.1"\nport = {outside.port}\nfrom = "ada@harbour.example"\ntls = "none"\n'
    server = start(tmp_path, settings)
    observer = Observer(server)
    try:
        task(server)
        request = observer.until("Action", "Approve?")[0]
        with Thunderbird(tmp_path, server, "tls") as thunderbird:
            thunderbird.check("return !!await until(() => server() && folder('inbox') && folder('Action'))")
            thunderbird.check("await show(folder('Action'), 'Approve?'); return await shown('maya@example.org')")
            picture(thunderbird, "thunderbird-request")
            to, subject = thunderbird.run(REPLY, "approve")
            assert "action+" in to
            assert request.subject in subject
            picture(thunderbird, "thunderbird-approve")
            thunderbird.check(SEND)
            (delivered,) = outside.wait(1)
            assert delivered.recipients == ("maya@example.org",)
            assert b"harbour" in delivered.data
            observer.gone("Action", "Approve?")
            observer.until("INBOX", "Re: Notes from Tuesday")  # Thunderbird keeps subjects without the "Re:"
            thunderbird.check(
                "await show(folder('inbox'), 'Notes from Tuesday'); return await shown('maya@example.org')"
            )
            picture(thunderbird, "thunderbird-result")
    finally:
        observer.close()
        server.stop()


def task(server: Postroom) -> None:
    """The task with its attachment."""
    server.send(
        "Notes from Tuesday",
        "Summarise the attached notes and send the summary to maya@example.org\n",
        to="assistant@postroom.internal",
        attachment=("notes.txt", NOTES),
    )
