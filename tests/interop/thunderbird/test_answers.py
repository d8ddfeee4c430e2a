"""Thunderbird approves, rejects with a reason and edits: written as plain text and as HTML, above and below the quote.

With POSTROOM_TEST_KEEP=FOLDER each request and its answer are saved there as bytes: tests/replies/thunderbird was made
so, and CI reads it again without Thunderbird.
"""

import os
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path

import pytest

from tests.interop.support import Observer, Postroom, Seen, start
from tests.interop.thunderbird.driver import Thunderbird
from tests.interop.thunderbird.test_thunderbird import NOTES, SEND, Outside, picture

pytestmark = [pytest.mark.interop, pytest.mark.desktop]

SAYINGS = {
    "approve": ["approve"],
    "reject": ["reject: she has read it already", "Write to Bo instead."],
    "edit": ["edit", "Subject: What we said on Tuesday"],
}
FORMATS = ["plain", "html"]
PLACES = ["top", "bottom"]

# How the next answers are composed. Send formats: 1 is plain text, 3 both forms. reply_on_top: 1 above the quote.
COMPOSE_AS = """
Services.prefs.setBoolPref('mail.identity.id1.compose_html', A[0] == 'html');
Services.prefs.setIntPref('mail.default_send_format', A[0] == 'html' ? 3 : 1);
Services.prefs.setIntPref('mail.identity.id1.reply_on_top', A[1] == 'top' ? 1 : 0);
Services.prefs.setBoolPref('mail.identity.id1.sig_bottom', A[1] == 'bottom');
Services.prefs.setStringPref('mail.identity.id1.htmlSigText', 'Ada Byron\\nHarbour Office');
"""
# Types rows where Thunderbird has put the caret, a break before the next one as the Enter key makes it.
ANSWER = """
pane().commandController.doCommand('cmd_reply');
const window = await until(compose);
const editor = window.gMsgCompose.editor, page = editor.document, html = window.gMsgCompose.composeHTML;
await until(() => page.body.textContent.includes('single word') && page.body.textContent.includes('Harbour Office'));
for (const [number, row] of A[0].entries()) {
  if (number) html ? page.execCommand('insertParagraph') : editor.insertLineBreak();
  editor.insertText(row);
}
return {html, to: await until(() => window.gMsgCompose.compFields.to)};
"""

# The version before has left Action on the server; Thunderbird looks when it is asked to.
LOOK_AGAIN = """
await done(l => folder('Action').updateFolderWithListener(null, l));
const versions = () => messages(folder('Action')).filter(one => one.mime2DecodedSubject.includes(A[0]));
return !!await until(() => versions().length == 1 && !versions()[0].isRead);
"""


class Desk:
    """A served Postroom, Thunderbird before it, and the outside world."""

    def __init__(self, server: Postroom, thunderbird: Thunderbird, outside: Outside) -> None:
        self.server, self.thunderbird, self.outside = server, thunderbird, outside
        self.observer = Observer(server)
        self.codes: set[str] = set()

    def ask(self, subject: str) -> tuple[str, bytes]:
        """Give a task whose request then waits: the request's code and bytes."""
        text = "Summarise the attached notes and send the summary to maya@example.org\n"
        self.server.send(subject, text, to="assistant@postroom.internal", attachment=("notes.txt", NOTES))
        found = self.observer.until(
            "Action", "Approve?", lambda all: any(_code(seen) not in self.codes for seen in all)
        )
        (code,) = {_code(seen) for seen in found} - self.codes
        self.codes.add(code)
        return code, self.source("Action", code)

    def source(self, folder: str, subject: str) -> bytes:
        """The bytes of the newest message of this subject."""
        found = self.observer.until(folder, subject)[-1]
        self.observer.client.select_folder(folder, readonly=True)
        raw: bytes = self.observer.client.fetch([found.uid], ["BODY.PEEK[]"])[found.uid][b"BODY[]"]
        return raw

    def answer(self, code: str, rows: list[str], form: str, place: str) -> bytes:
        """Answer the request in Action in Thunderbird; what it sent."""
        self.thunderbird.run(COMPOSE_AS, form, place)
        self.thunderbird.check("await show(folder('Action'), A[0]); return await shown('maya@example.org')", code)
        opened = self.thunderbird.run(ANSWER, rows)
        assert opened["html"] == (form == "html")
        assert "action+" in opened["to"]
        if (form, place, rows[0]) == ("html", "top", "approve"):
            picture(self.thunderbird, "thunderbird-approve-html")
        self.thunderbird.check(SEND)
        return self.source("Sent", code)

    def close(self) -> None:
        self.observer.close()


def _code(request: Seen) -> str:
    return request.subject.rpartition("[")[2].rstrip("]")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One server and one Thunderbird for the whole matrix."""
    folder, outside = tmp_path_factory.mktemp("answers"), Outside()
    relay = f'[relay]\nhost = "127.0.0.1"\nport = {outside.port}\nfrom = "ada@harbour.example"\ntls = "none"\n'
    server = start(folder, relay)
    with Thunderbird(folder, server, "tls") as thunderbird:
        thunderbird.check("return !!await until(() => server() && folder('inbox') && folder('Action'))")
        made = Desk(server, thunderbird, outside)
        yield made
        made.close()
    server.stop()
    outside.close()


def keep(name: str, request: bytes, answer: bytes) -> None:
    """Save both where the person who runs the tests wants them."""
    if folder := os.environ.get("POSTROOM_TEST_KEEP"):
        (Path(folder) / f"{name}.request.eml").write_bytes(request)
        (Path(folder) / f"{name}.answer.eml").write_bytes(answer)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("saying", SAYINGS)
def test_an_answer(desk: Desk, saying: str, form: str, place: str) -> None:
    subject = f"Tuesday {saying} {form} {place}"
    code, request = desk.ask(subject)
    before = len(desk.outside.sink.messages)
    answer = desk.answer(code, SAYINGS[saying], form, place)
    keep(f"{saying}-{form}-{place}", request, answer)
    kind = message_from_bytes(answer, policy=policy.default).get_content_type()
    assert kind == ("multipart/alternative" if form == "html" else "text/plain")
    if saying == "approve":
        desk.observer.flags("INBOX", code, "$Approved")
        assert desk.outside.wait(before + 1)[before].recipients == ("maya@example.org",)
        desk.observer.until("INBOX", subject)
        return
    if saying == "edit":
        changed = desk.observer.until("Action", code, lambda found: len(found) == 1 and "Approve?" in found[0].subject)
        text = desk.source("Action", code).decode()
        assert "What we said on Tuesday" in text, changed
        desk.thunderbird.check(LOOK_AGAIN, code)
        desk.answer(code, ["reject"], form, place)
    desk.observer.flags("INBOX", code, "$Rejected")
    desk.observer.until("INBOX", subject)
    desk.observer.gone("Action", code)
    assert len(desk.outside.sink.messages) == before
