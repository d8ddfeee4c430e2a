"""An Outgoing as RFC 5322 bytes, with every header of an agent's mail.

The rule: a pure function of its input. The same Outgoing composed twice is the same mail, byte for byte.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.letter import File, Kind, Outgoing, OutsideMail
from bridge.post import mime, threadindex
from bridge.post.letters import Written, write

_REPLIED = frozenset({Kind.RESULT, Kind.FAILURE, Kind.QUESTION, Kind.REQUEST})


@dataclass(frozen=True, slots=True)
class Frame:
    """What a mail needs beside its content: names and addresses, the thread so far, and the moment (UTC ms)."""

    domain: str
    user: str
    user_address: str
    display: str
    references: tuple[str, ...]
    topic: str
    at: int


def compose(outgoing: Outgoing, frame: Frame) -> bytes:
    """The mail for the user's mailbox, with CRLF line ends."""
    decide_at = f"action+{outgoing.request.token}@{frame.domain}" if outgoing.request else ""
    written = write(outgoing, frame.display, decide_at)
    entity = _body(written, outgoing.files, outgoing.message_id)
    head = [
        f"From: {mime.mailbox(frame.display, f'{outgoing.agent}@{frame.domain}')}",
        f"To: {mime.mailbox(frame.user, frame.user_address)}",
        *([f"Reply-To: {mime.mailbox('Postroom', decide_at)}"] if decide_at else []),
        mime.text_header("Subject", outgoing.subject),
        mime.date_header(frame.at),
        f"Message-ID: {outgoing.message_id}",
        *_thread(outgoing, frame),
        f"Auto-Submitted: {'auto-replied' if outgoing.kind in _REPLIED and outgoing.in_reply_to else 'auto-generated'}",
        f"Postroom-Thread: {mime.clean(outgoing.thread)}",
        *([f"Postroom-Run: {mime.clean(outgoing.run)}"] if outgoing.run else []),
        f"Postroom-State: {mime.clean(outgoing.state)}",
        "MIME-Version: 1.0",
    ]
    return "".join(line + mime.CRLF for line in head).encode("ascii") + entity.render()


def _thread(outgoing: Outgoing, frame: Frame) -> list[str]:
    lines = []
    references = _chain(frame.references, outgoing.in_reply_to)
    if outgoing.in_reply_to:
        lines.append(mime.id_header("In-Reply-To", [outgoing.in_reply_to]))
    if references:
        lines.append(mime.id_header("References", references))
    if outgoing.activity is None:
        lines.append(mime.text_header("Thread-Topic", frame.topic or outgoing.subject))
        lines.append(f"Thread-Index: {threadindex.child(outgoing.thread, frame.at)}")
    return lines


def _chain(references: Sequence[str], last: str | None) -> list[str]:
    chain = [one for one in references if one != last]
    return [*chain, last] if last else chain


def _body(written: Written, files: Sequence[File], seed: str) -> mime.Entity:
    forms = [mime.text_entity("plain", written.text), mime.text_entity("html", written.html)]
    both = mime.multipart("alternative", forms, seed)
    attached = [mime.file_entity(file.name, file.media_type, file.data) for file in (*written.files, *files)]
    return mime.multipart("mixed", [both, *attached], seed) if attached else both


def compose_outside(
    mail: OutsideMail, sender: str, display: str, message_id: str, at: int, *, auto: bool = True
) -> bytes:
    """A mail for the outside world (or a draft of one): plain text as it was approved, and its files.

    It carries none of our own marks. `auto` False is for a draft, which a person will send.
    """
    text = mime.text_entity("plain", mail.text)
    attached = [mime.file_entity(file.name, file.media_type, file.data) for file in mail.attachments]
    entity = mime.multipart("mixed", [text, *attached], message_id) if attached else text
    head = [
        f"From: {mime.mailbox(display, mail.sender or sender)}",
        "To: " + f",{mime.CRLF} ".join(f"<{address}>" for address in mail.to),
        mime.text_header("Subject", mail.subject),
        mime.date_header(at),
        f"Message-ID: {message_id}",
        *(["Auto-Submitted: auto-generated"] if auto else []),
        "MIME-Version: 1.0",
    ]
    return "".join(line + mime.CRLF for line in head).encode("ascii") + entity.render()
