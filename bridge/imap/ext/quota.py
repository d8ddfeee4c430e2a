"""QUOTA (RFC 9208): what the mail takes up, as a figure; the limit is what the disk could hold. Nothing can be set.

One quota root, the empty name, for the whole account; views show mail of other mailboxes and count nothing.
"""

import shutil
from functools import partial
from typing import Final

from bridge.imap.base.mailboxes import DELETED, existing, parse_name
from bridge.imap.command import Command, Done, Refused
from bridge.imap.dialect import Dialect, Extension, StatusItem, announces
from bridge.imap.session import Session
from bridge.imap.states import LOGGED_IN
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from bridge.imap.wire.render import mailbox_name
from mailstore import mailboxes
from mailstore.model import AccountId
from mailstore.sqlite import ReadTx

UNIT: Final = 1024  # bytes, section 5.1


def parse_root(cursor: Cursor, dialect: Dialect) -> bytes:
    cursor.sp()
    root = cursor.astring()
    cursor.eol()
    return root


def parse_setting(cursor: Cursor, dialect: Dialect) -> bytes:
    cursor.sp()
    root = cursor.astring()
    cursor.sp()
    cursor.parenthesised(partial(_resource, cursor), empty=True)
    cursor.eol()
    return root


def _resource(cursor: Cursor) -> tuple[bytes, int]:
    name = cursor.atom()
    cursor.sp()
    return name, cursor.number64()


async def run_getquotaroot(session: Session, name: str) -> Done:
    account = session.user().account
    mailbox = session.store.read(lambda tx: existing(tx, account, name))
    session.say(b"QUOTAROOT " + mailbox_name(mailbox.name, session.framer.utf8) + b' ""')
    session.say(_figures(session))
    return Done("GETQUOTAROOT completed")


async def run_getquota(session: Session, root: bytes) -> Done:
    _check(root)
    session.say(_figures(session))
    return Done("GETQUOTA completed")


async def run_setquota(session: Session, root: bytes) -> Done:
    _check(root)
    raise Refused("Limits are not set by mail programs here", Code.NOPERM.value)


def _check(root: bytes) -> None:
    if root:
        raise Refused("There is no such quota root", Code.NONEXISTENT.value)


def _figures(session: Session) -> bytes:
    account = session.user().account
    used = session.store.read(lambda tx: _used(tx, account))
    free = shutil.disk_usage(session.settings.home).free
    return b'QUOTA "" (STORAGE %d %d)' % (-(-used // UNIT), (used + free) // UNIT)


def _used(tx: ReadTx, account: AccountId) -> int:
    return sum(mailboxes.status(tx, box).size for box in mailboxes.all(tx, account) if box.view is None)


EXTENSION: Final = Extension(
    name="QUOTA",
    announce=announces(b"QUOTA", b"QUOTA=RES-STORAGE"),
    commands=(
        Command(b"GETQUOTA", LOGGED_IN, parse_root, run_getquota),
        Command(b"GETQUOTAROOT", LOGGED_IN, parse_name, run_getquotaroot),
        Command(b"SETQUOTA", LOGGED_IN, parse_setting, run_setquota),
    ),
    status_items=(DELETED, StatusItem(b"DELETED-STORAGE", lambda status, _: b"%d" % status.deleted_size)),
    default=False,
)
