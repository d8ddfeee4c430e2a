"""CREATE-SPECIAL-USE (RFC 6154 section 3): CREATE name (USE (\\Attr)).

Every special mailbox is there from the start, and agents' mail is filed by it, so there is never a second one of a
kind: a use that is taken is refused with the name of the mailbox that has it, which is what the client wants to know.
"""

from typing import Final

from bridge.imap.command import Refused
from bridge.imap.dialect import Extension, Parameter, announces
from bridge.imap.session import Session
from bridge.imap.wire.codes import Code
from bridge.imap.wire.cursor import Cursor
from mailstore import mailboxes

_KNOWN: Final = ("\\All", "\\Archive", "\\Drafts", "\\Flagged", "\\Important", "\\Junk", "\\Sent", "\\Trash")
_FREE: Final = ("\\Archive", "\\Drafts", "\\Junk", "\\Sent", "\\Trash")  # not views, so a mailbox can have them


def _parse(cursor: Cursor) -> tuple[str, ...]:
    cursor.sp()
    return tuple(cursor.parenthesised(cursor.flag, empty=True))


def _use(session: Session, uses: tuple[str, ...]) -> str | None:
    """What the new mailbox is for; asking for nothing is allowed. Raises Refused with USEATTR (section 3)."""
    if not uses:
        return None
    if len(uses) > 1:
        raise Refused("A mailbox has one special use only", Code.USEATTR.value)
    use = next((name for name in _KNOWN if name.lower() == uses[0].lower()), None)
    if use is None:
        raise Refused("Unknown special use", Code.USEATTR.value)
    account = session.user().account
    boxes = session.store.read(lambda tx: mailboxes.all(tx, account))
    taken = next((box for box in boxes if box.special_use == use), None)
    if taken is not None:
        raise Refused(f"{taken.name} has this use already", Code.USEATTR.value)
    if use not in _FREE:
        raise Refused("No mailbox can be given this use", Code.USEATTR.value)
    return use


EXTENSION: Final = Extension(
    name="CREATE-SPECIAL-USE",
    announce=announces(b"CREATE-SPECIAL-USE"),
    create_params=(Parameter(b"USE", parse=_parse, apply=_use),),
    implies=("SPECIAL-USE",),
)
