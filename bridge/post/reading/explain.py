"""`postroom explain`: how a mail in a file would be read, and why.

One rule: it runs the very reading that decides, and a file that cannot be read gives a row that says so.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bridge.post.reading.decide import read_reply
from bridge.post.reading.model import Languages, Reading, SentMail, SentTable


class UnreadableSent(ValueError):
    """The file of sent mails is not what it should be; the text says where."""


def load_sent(path: Path | None) -> SentTable:
    """The sent mails of a JSON file: token to {"message_id", "reply_to", "subject", "text"} and, if known, "items",
    "grant", "names", "request". Raises `UnreadableSent`."""
    if path is None:
        return SentTable(())
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise UnreadableSent(f"{path}: {fault}") from fault
    if not isinstance(data, dict) or not all(isinstance(entry, dict) for entry in data.values()):
        raise UnreadableSent(f"{path}: expected an object of token to sent mail")
    return SentTable(tuple(_sent_mail(token, entry) for token, entry in data.items()))


def _sent_mail(token: str, entry: Mapping[str, object]) -> SentMail:
    items, names = entry.get("items"), entry.get("names")
    return SentMail(
        token=token,
        message_id=_text(entry, "message_id") or None,
        address=_text(entry, "reply_to"),
        subject=_text(entry, "subject"),
        text=_text(entry, "text"),
        items=tuple(item for item in items if isinstance(item, int)) if isinstance(items, list) else None,
        grant=entry.get("grant") is True,
        names=tuple(str(name) for name in names) if isinstance(names, list) else (),
        request=_text(entry, "request") or None,
    )


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else ""


def explain_files(
    paths: Iterable[Path], sent: Path | None = None, languages: Languages = None, as_json: bool = True
) -> Iterator[str]:
    """One line (JSON) or one paragraph (text) for each file. Raises `UnreadableSent` before the first."""
    table = load_sent(sent)
    return (_explain(path, table, languages, as_json) for path in paths)


def _explain(path: Path, table: SentTable, languages: Languages, as_json: bool) -> str:
    try:
        raw = path.read_bytes()
    except OSError as fault:
        row: dict[str, object] = {"file": str(path), "error": fault.strerror or str(fault)}
        return json.dumps(row, ensure_ascii=False) if as_json else f"{path}: {row['error']}"
    reading = read_reply(raw, table, languages)
    return json.dumps(_row(path, reading), ensure_ascii=False) if as_json else _paragraph(path, reading)


def _row(path: Path, reading: Reading) -> dict[str, object]:
    row: dict[str, object] = {
        "file": str(path),
        "new_text": reading.new_text,
        "decision": reading.decision,
        "auto": reading.auto,
        "rule": reading.rule,
        "why": reading.why,
    }
    if reading.decision == "approve":
        row |= {"items": list(reading.items), "grant": reading.grant}
    return row


def _paragraph(path: Path, reading: Reading) -> str:
    maker = "made by a machine" if reading.auto else "written by a person"
    text = "\n".join(f"  | {line}" for line in reading.new_text.split("\n")) if reading.new_text else "  (no new text)"
    return f"{path}: {reading.decision}, {maker}\n  {reading.why} [{reading.rule}]\n{text}"
