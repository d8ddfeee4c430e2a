"""Messages rendered as the store would hand them to a plan."""

from dataclasses import dataclass

from bridge.imap.items import RENDERERS
from bridge.imap.plan import Batch, FetchPlan
from bridge.imap.wire.cursor import Cursor
from mailstore.model import ContentId
from mailstore.parse import parse


@dataclass(frozen=True)
class StoredRow:
    """A row of a store that holds exactly the given bytes."""

    content: ContentId
    size: int
    internal_date: int
    header_size: int
    header: bytes | None
    rendered: tuple[bytes, ...]
    save_date: int = 0
    zone: int = 0
    email_object_id: str = ""
    thread_object_id: str = ""


def crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode("latin-1")


def batch(plan: FetchPlan, raws: list[bytes], flags: list[bytes] | None = None) -> Batch:
    """Only what the plan asks for is filled in, so that a wrong `needs` shows."""
    needs = plan.needs
    contents = {ContentId(at): raw for at, raw in enumerate(raws, start=1)}

    def row(content: ContentId, raw: bytes) -> StoredRow:
        message = parse(raw)
        return StoredRow(
            content=content,
            size=len(raw),
            internal_date=1_782_950_400_000,
            header_size=message.header_size,
            header=raw[: message.header_size] if needs.header else None,
            rendered=tuple(RENDERERS[name](message) for name in needs.renderings),
        )

    def body(content: ContentId, start: int, length: int | None) -> bytes:
        return contents[content][start : None if length is None else start + length]

    count = range(1, len(raws) + 1)
    return Batch(
        numbers=count,
        uids=[number + 100 for number in count],
        flags=(flags or [b""] * len(raws)) if needs.flags else (),
        rows=[row(content, raw) for content, raw in contents.items()] if needs.reads_store else (),
        renderings=needs.renderings,
        body=body if needs.reads_store else None,
    )


def fetch(items: str, *raws: bytes, uid: bool = False, flags: list[bytes] | None = None) -> bytes:
    """The untagged lines of a FETCH of all messages."""
    cursor = Cursor(items.encode("latin-1"))
    plan = FetchPlan.compile(cursor, uid=uid)
    cursor.eol()
    return plan.render(batch(plan, list(raws), flags))


def answer(items: str, raw: bytes) -> bytes:
    """What stands between `* 1 FETCH (` and `)`."""
    line = fetch(items, raw)
    assert line.startswith(b"* 1 FETCH (")
    assert line.endswith(b")\r\n")
    return line[11:-3]
