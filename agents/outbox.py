"""The outbox: every mail the runtime writes is a row first.

The rule: a row is added in the transaction of what it tells of, under a key that can never come again; its Message-ID
is made from that key.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from agents import codec, journal
from agents.events import OutboxQueued
from agents.letter import Kind, Outgoing, OutsideMail
from agents.office import Office
from agents.ports import ReadTx, WriteTx

TAKE = 50


def put(
    tx: WriteTx,
    office: Office,
    mail: Outgoing,
    *,
    call: str | None = None,
    request: str | None = None,
    taint: bool = False,
    refs: Sequence[str] = (),
) -> bool:
    """Queue a mail. False: its key is there already, and nothing was added."""
    series = mail.activity.replaces if mail.activity else mail.series or None
    added = tx.run(
        "agents.outbox.add",
        **{name: getattr(mail, name) for name in ("key", "kind", "account", "agent", "thread", "run", "message_id")},
        call=call,
        request=request,
        body=_dump(tx, mail, refs),
        series=series,
        taint=int(taint),
        now=office.now(),
    )
    if not added:
        return False
    tx.run("agents.outbox.own_id", account=mail.account, message_id=mail.message_id, key=mail.key)
    if series is not None:
        tx.run("agents.outbox.supersede_series", series=series, key=mail.key, now=office.now())
    tx.emit(OutboxQueued(mail.key, mail.kind))
    if mail.kind is Kind.MAIL:
        tx.after(office.bells.mail)
    return True


def take_letters(tx: ReadTx, limit: int = TAKE) -> list[Outgoing]:
    """Mails for the user's own mailboxes that wait, oldest first. Nothing is marked: that is `mark_delivered`, in the
    append's transaction.
    """
    return [_load(tx, row["body"]) for row in tx.all("agents.outbox.letters", limit=limit)]


def mark_delivered(tx: WriteTx, office: Office, key: str, mail_ref: str) -> bool:
    """A mail stands in its mailbox, as `mail_ref`. Call it in the transaction that appended it. False: it did so
    before.
    """
    row = tx.one("agents.outbox.get", key=key)
    if row is None or not tx.run("agents.outbox.delivered", key=key, ref=mail_ref, now=office.now()):
        return False
    if row["series"] is not None:
        tx.run("agents.outbox.forget_series", series=row["series"], key=key)
    return True


def get(tx: ReadTx, key: str) -> Outgoing | None:
    """A mail by its key."""
    row = tx.one("agents.outbox.get", key=key)
    return _load(tx, row["body"]) if row else None


def refs(tx: ReadTx, key: str) -> tuple[str, ...]:
    """The files of the user's own mail that go out with a mail; they are read when it is sent."""
    row = tx.one("agents.outbox.get", key=key)
    return tuple(json.loads(row["body"])["refs"]) if row else ()


def own_key(tx: ReadTx, account: int, message_id: str) -> str | None:
    """The key of our mail with this Message-ID, also of one that is gone; None when it is none of ours."""
    key: str | None = tx.value("agents.outbox.is_own", account=account, message_id=message_id)
    return key


def is_own(tx: ReadTx, account: int, message_id: str) -> bool:
    """Whether a Message-ID was made here, for this account."""
    return tx.value("agents.outbox.is_own", account=account, message_id=message_id) is not None


def _dump(tx: WriteTx, mail: Outgoing, refs: Sequence[str]) -> str:
    outside = mail.mail
    body = {
        "mail": json.loads(codec.dump(replace(mail, files=(), mail=_bare(outside)))),
        "files": journal.store_files(tx, mail.files),
        "outside_files": journal.store_files(tx, outside.attachments) if outside else [],
        "refs": list(refs),
    }
    return json.dumps(body, ensure_ascii=False)


def _load(tx: ReadTx, text: str) -> Outgoing:
    body = json.loads(text)
    mail = codec.load(Outgoing, json.dumps(body["mail"], ensure_ascii=False))
    outside = mail.mail
    if outside is not None:
        outside = replace(outside, attachments=journal.load_files(tx, body["outside_files"]))
    return replace(mail, files=journal.load_files(tx, body["files"]), mail=outside)


def _bare(outside: OutsideMail | None) -> OutsideMail | None:
    return replace(outside, attachments=()) if outside else None
