"""The play: what happens in the demo, step by step, and what has to hold after each.

The rule: every claim on the screen is a check; waiting is for an event, and always with an end.
"""

import asyncio
import re
import secrets
import shutil
import sys
import tempfile
from asyncio import to_thread
from collections.abc import Sequence
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Final

from imapclient.exceptions import IMAPClientError

from bridge.cli.setup import Login, client_lines
from bridge.control.protocol import ControlError
from bridge.demo.client import SHORT_STEP_SECONDS, Account, Mail, Mailbox, NothingCame, answer, submit, task
from bridge.demo.server import Server, ServerFailed
from bridge.demo.story import Story, usual_story
from bridge.demo.timeline import Timeline
from bridge.sink import Delivered, Sink

USER: Final = "you"
DOMAIN: Final = "postroom.internal"
SENDER: Final = "you@harbour.example"
SECONDS: Final = 60.0
LOOK_SECONDS: Final = 0.1
REQUEST: Final = ("UNSEEN", "HEADER", "Reply-To", "action+")
RESULT: Final = ("UNSEEN", "NOT", "HEADER", "Reply-To", "action+")
MARK: Final = re.compile(r"^\|[+ ]", re.MULTILINE)
SENTENCE: Final = 20
"""Characters from which a line counts as a sentence that can be looked for in the attachment."""


async def run(timeline: Timeline, *, story: Story | None = None, keep: bool = False) -> bool:
    """Play the story in a throw-away folder; whether every check held. `keep`: stay up until interrupted."""
    root = Path(tempfile.mkdtemp(prefix="postroom-demo-"))
    sink = Sink()
    play = Play(timeline, story or usual_story(), Server(root), sink)
    try:
        await sink.start()
        await _played(play)
        timeline.close()
        if keep and play.server.ports is not None:
            await _stay(play)
        await play.server.stop()
    finally:
        await play.server.kill()
        await sink.close()
        await to_thread(shutil.rmtree, root, ignore_errors=True)
    return timeline.held


async def _played(play: "Play") -> None:
    """All acts; what breaks off the play is a failed check with the server's last words."""
    try:
        await play.all()
    except (ServerFailed, NothingCame, TimeoutError, ControlError, OSError, IMAPClientError) as error:
        play.timeline.check("the play went to its end", False, f"{error or type(error).__name__}")
        play.timeline.plain(play.server.last_lines())
        await play.server.kill()
        await asyncio.gather(*play.waiting, return_exceptions=True)
        await play.close()


async def _stay(play: "Play") -> None:
    """Say how to look at it, and wait for Ctrl-C."""
    assert play.server.ports is not None
    ended = asyncio.Event()
    if sys.platform != "win32":
        import signal

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
    show = play.timeline.plain
    show("\nPostroom stays up until Ctrl-C. To look at it, type into Thunderbird (Add Mail Account, Configure):\n")
    login = Login(USER, play.account.address, play.account.password)
    for line in client_lines(play.server.ports.as_dict(), login):
        show(line)
    show(f"\nThen write to assistant@{DOMAIN}. Mail for the outside world ends here and goes nowhere.\n")
    await ended.wait()


class Play:
    """The state that the acts share."""

    def __init__(self, timeline: Timeline, story: Story, server: Server, sink: Sink) -> None:
        self.timeline = timeline
        self.story = story
        self.server = server
        self.sink = sink
        self.password = secrets.token_urlsafe(12)
        self.mail: EmailMessage = EmailMessage()
        self.boxes: list[Mailbox] = []
        self.waiting: list[asyncio.Task[tuple[Mail, bool]]] = []

    @property
    def account(self) -> Account:
        """Where the client logs in now."""
        assert self.server.ports is not None
        return Account(self.server.ports, f"{USER}@{DOMAIN}", USER, self.password)

    async def all(self) -> None:
        """The acts in order."""
        await self._set_the_stage()
        request = await self._ask()
        await self._approve_and_kill(request)
        await self._start_again()
        delivered = await self._delivered(request)
        await self._result(request)
        await self._quiet(delivered)

    async def _open(self, *names: str) -> Sequence[Mailbox]:
        """New sessions, each with a mailbox open."""
        boxes = await asyncio.gather(*(to_thread(Mailbox, self.account, name) for name in names))
        self.boxes += boxes
        return boxes

    async def close(self) -> None:
        """Log out of every session."""
        boxes, self.boxes = self.boxes, []
        await asyncio.gather(*(to_thread(box.close) for box in boxes))

    async def _set_the_stage(self) -> None:
        show = self.timeline
        show.title("Postroom demo: a real server, real mail clients, no key and no network")
        await self.server.set_up(USER, self.password, settings(self.sink.port))
        show.step("made a throw-away data folder with one account", f"{USER}@{DOMAIN}")
        ports = await self.server.start()
        show.step("started postroom serve", f"IMAP {ports.imap}, submission {ports.smtp}, relay {self.sink.port}")

    async def _ask(self) -> Mail:
        """Send the task; the request comes by IDLE to INBOX and to Action."""
        show, story = self.timeline, self.story
        inbox, action = await self._open("INBOX", "Action")
        self.waiting = [asyncio.create_task(to_thread(box.wait, REQUEST)) for box in (inbox, action)]
        await asyncio.gather(*(to_thread(box.idling.wait, SECONDS) for box in (inbox, action)))
        show.step("logged in over STARTTLS; IDLE in INBOX and in Action")
        self.mail = task(self.account, story)
        await to_thread(submit, self.account, self.mail)
        show.step(f"sent a mail to {story.agent} with {story.attachment_name}", f'"{story.text}"')
        (request, by_idle), (same, action_by_idle) = await asyncio.gather(*self.waiting)
        show.step("a request arrived", request.subject)
        show.quote([line for line in request.text.splitlines() if line.startswith("| ")][:6])
        show.check("IDLE told of the request in INBOX and in Action", by_idle and action_by_idle)
        show.check("it is one message, seen in both", same.message_id == request.message_id)
        show.check(f"it shows who gets the mail: {story.recipient}", story.recipient in request.text)
        show.check("nothing has left the machine", self.sink.connections == 0)
        await self.close()
        return request

    async def _approve_and_kill(self, request: Mail) -> None:
        """Approve while the relay is silent, and kill the server as soon as it has connected there."""
        show = self.timeline
        self._first = self.sink.hold("connect")
        self._second = self.sink.hold("connect")
        await to_thread(submit, self.account, answer(self.account, request, "approve"))
        show.step("replied", '"approve", above the quoted request')
        async with asyncio.timeout(SECONDS):
            await self._first.reached.wait()
        show.step("the server connects to the relay, which holds its greeting")
        await self.server.kill()
        show.step("killed the server with SIGKILL, between the approval and its effect")
        show.check("nothing was delivered yet", not self.sink.messages)

    async def _start_again(self) -> None:
        show = self.timeline
        await self.server.start()
        show.step("started it again on the same folder")
        async with asyncio.timeout(SECONDS):
            await self._second.reached.wait()
        show.check("it goes on by itself: it connects to the relay again", not self.sink.messages)
        self._first.release()
        self._second.release()
        show.step("the relay greets")

    async def _delivered(self, request: Mail) -> Delivered:
        show, story = self.timeline, self.story
        delivered = (await self.sink.wait(1, SECONDS))[0]
        mail = message_from_bytes(delivered.data, policy=SMTP)
        text = body_of(mail)
        show.step("the mail was delivered", f"{', '.join(delivered.recipients)}: {mail['Subject']}")
        show.quote([line for line in text.splitlines() if line.strip()][:5])
        show.check(f"it went to {story.recipient} alone", delivered.recipients == (story.recipient,))
        unseen = [line for line in text.splitlines() if not shows(request.text, line)]
        show.check("its text is the one that was approved", bool(text.strip()) and not unseen, "; ".join(unseen[:2]))
        show.check("it says what the attachment says", quotes(text, story.attachment))
        return delivered

    async def _result(self, request: Mail) -> None:
        show = self.timeline
        inbox, action, activity, sent = await self._open("INBOX", "Action", "Activity", "Sent")
        result, _ = await to_thread(inbox.wait, RESULT, step=SHORT_STEP_SECONDS)
        show.step("the result arrived", result.subject)
        show.quote([line for line in result.text.splitlines() if line.strip()][:3])
        show.check("the result is unread in INBOX", "\\Seen" not in result.flags)
        show.check("it continues the thread of the task", result.answers(str(self.mail["Message-ID"])))
        asked = await to_thread(inbox.mails, ("HEADER", "Message-ID", request.message_id))
        show.check("the request is marked as approved", [mail.flags >= {"$Approved"} for mail in asked] == [True])
        left = await to_thread(action.mails)
        show.check("Action is empty", not left, ", ".join(mail.subject for mail in left))
        tasks = [mail.subject for mail in await to_thread(activity.mails)]
        done = [subject for subject in tasks if subject.startswith("[done]")]
        show.check("Activity shows the run and the delegated task as done", len(done) == 2, "; ".join(tasks))
        filed = [mail.message_id for mail in await to_thread(sent.mails)]
        show.check("Sent holds each mail once", len(filed) == len(set(filed)) == 2, f"{len(filed)} mails")
        await self.close()

    async def _quiet(self, delivered: Delivered) -> None:
        """Ask the server until nothing is under way any more; only then has "once" been shown."""
        show = self.timeline
        async with asyncio.timeout(SECONDS):
            while not idle(status := await self.server.ask("status")):  # noqa: ASYNC110 - another process has no Event
                await asyncio.sleep(LOOK_SECONDS)
        show.check(
            "the mail went out exactly once", self.sink.messages == [delivered], f"{len(self.sink.messages)} times"
        )
        show.check("the server has nothing left to do", status["relayed"] == {"sent": 1}, str(status["relayed"]))
        faults = (await self.server.ask("check"))["faults"]
        show.check("every invariant of the store holds", not faults, "; ".join(faults[:2]))


def settings(relay_port: int) -> str:
    """The settings file of the demo: all defaults, and the local sink as the way out."""
    return "\n".join(
        [
            f'user = "{USER}"',
            f'domain = "{DOMAIN}"',
            "",
            "[relay]",
            'host = "127.0.0.1"',
            f"port = {relay_port}",
            'tls = "none"',
            f'from = "{SENDER}"',
            "",
        ]
    )


def idle(status: dict[str, object]) -> bool:
    """Whether a status says that all runs have ended and all queues are empty."""
    runs, queues = status["runs"], status["queues"]
    assert isinstance(runs, dict)
    assert isinstance(queues, dict)
    return set(runs) <= {"done", "failed", "cancelled", "stuck", "expired"} and not any(queues.values())


def body_of(mail: EmailMessage) -> str:
    """The plain text of a mail."""
    part = mail.get_body(("plain",))
    return str(part.get_content()) if part is not None else ""


def shows(request: str, line: str) -> bool:
    """Whether a line stands in a request, where each stands behind "| " and a long one goes on behind "|+"."""
    return _flat(line) in _flat(MARK.sub("", request))


def _flat(text: str) -> str:
    return "".join(text.split())


def quotes(text: str, source: str) -> bool:
    """Whether at least two of the sentences in `text` stand in `source`, however the lines are broken."""
    flat = " ".join(source.split())
    lines = (" ".join(line.strip("-*• ").split()) for line in text.splitlines())
    return sum(len(line) >= SENTENCE and line in flat for line in lines) >= 2
