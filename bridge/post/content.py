"""What a stored mail says, for an agent: its text, and the files that came with it.

The rule: text is what a person would read (plain part first, else the HTML as words); a part is never dropped silently,
so whatever is not shown as text is listed as a file with a name.
"""

from collections.abc import Iterator
from typing import Final

from mailstore import copies, messages
from mailstore.model import AccountId, EmailId, EmailInfo
from mailstore.parse import Message, Part, html_words
from mailstore.sqlite import ReadTx

_EXTENSIONS: Final = {
    "text/plain": ".txt",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/calendar": ".ics",
    "application/pdf": ".pdf",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "message/rfc822": ".eml",
}


def stored(tx: ReadTx, account: AccountId, email: EmailId) -> tuple[EmailInfo, bytes] | None:
    """A mail of the account with its bytes, or of the copy that stands for it: a client's Sent copy may have taken the
    place of ours, and a client without MOVE files by COPY and EXPUNGE. None when it is gone or another's."""
    for living in copies.living(tx, email):
        info = messages.email(tx, living)
        if info is not None and info.account == account:
            return info, messages.body(tx, info.content)
    return None


def body_text(message: Message, raw: bytes) -> str:
    """The text of a mail: all its inline text parts, of alternatives the plain one where it says anything."""
    return "\n\n".join(text for part in _shown(message.root, raw) if (text := _text(part, raw).strip()))


def _text(part: Part, raw: bytes) -> str:
    text = part.text(raw).replace("\r\n", "\n")
    return html_words(text) if part.subtype == "html" else text


def _shown(part: Part, raw: bytes) -> Iterator[Part]:
    if part.type == "multipart" and part.subtype == "alternative":
        yield from _alternative(part, raw)
    elif part.type == "multipart":
        for child in part.children:
            yield from _shown(child, raw)
    elif is_body(part):
        yield part


def _alternative(part: Part, raw: bytes) -> Iterator[Part]:
    forms = [list(_shown(child, raw)) for child in part.children]
    plain = [form for form in forms if form and all(one.subtype == "plain" for one in form)]
    best = next((form for form in plain if any(one.text(raw).strip() for one in form)), None)
    yield from best or next((form for form in reversed(forms) if form), [])


def is_body(part: Part) -> bool:
    """Whether a part is text to be read in place, and not a file."""
    text = part.type == "text" and part.subtype in ("plain", "html")
    return text and part.disposition != "attachment" and not part.filename


def files(message: Message) -> list[tuple[str, Part]]:
    """Every part that is not body text or a frame around others, with a name; enclosed messages count as one file."""
    return [(name_of(part, number), part) for number, part in enumerate(_leaves(message.root), 1) if not is_body(part)]


def _leaves(part: Part) -> Iterator[Part]:
    if part.type == "multipart":
        for child in part.children:
            yield from _leaves(child)
    else:
        yield part


def name_of(part: Part, number: int) -> str:
    """The file's own name, or one made from its place and type."""
    return part.filename or f"part-{number}{_EXTENSIONS.get(part.media_type, '')}"
