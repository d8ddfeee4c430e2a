"""Forks: a mail of an agent that is forwarded back to it, or answered with `fork`, begins a thread that goes on from
there.

The rule: only mail that the program itself wrote to this account is a point to go on from; everything else that is
forwarded is material.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from agents.letter import Letter, Origin
from agents.runtime import Runtime
from agents.threads import Point
from bridge.post.incoming import FORWARD, Incoming
from bridge.post.route import Directory, ToAgent, ToSkill
from mailstore import threads
from mailstore.model import AccountId, ThreadId
from mailstore.parse import Message, Part
from mailstore.sqlite import ReadTx, WriteTx
from mailstore.store import Store

_ID: Final = re.compile(r"<[^<>\s]{1,250}>")
_MOST: Final = 20

SAID: Final = (
    'A new thread, which goes on from "{subject}" as things stood then. Answer this mail with what you would like '
    "done. The thread that it comes from stays as it is."
)
NOTHING: Final = "Nothing was begun: there is no mail of an agent in this thread to go on from."


class Forks:
    """For whoever takes mail in. Made once."""

    def __init__(self, store: Store, runtime: Runtime, directory: Callable[[], Directory]) -> None:
        self._store = store
        self._runtime = runtime
        self._directory = directory

    def point(self, account: int, message: Message, recipients: tuple[str, ...]) -> Point | None:
        """What a submitted mail goes on from, if it forwards a mail of an agent back to an agent."""
        if FORWARD.match(message.subject) is None:
            return None
        targets = list(map(self._directory().resolve, recipients))
        agents = {target.agent for target in targets if isinstance(target, ToAgent)}
        agents |= {target.skill for target in targets if isinstance(target, ToSkill)}
        named = list(forwarded(message)) if agents else []
        found = self._store.read(lambda tx: self._runtime.point(tx, account, named))
        return found if found is not None and found.agent in agents else None

    def begin(self, tx: WriteTx, account: AccountId, origin: Point) -> ThreadId:
        """The new thread."""
        return begin(tx, self._runtime, account, origin)


def begin(tx: WriteTx, runtime: Runtime, account: AccountId, origin: Point) -> ThreadId:
    """A new thread that goes on from a mail of another one."""
    made = threads.new(tx, account)
    runtime.fork(tx, account, str(made), origin)
    return made


def forwarded(message: Message) -> Iterator[str]:
    """The Message-IDs of the mails that a forward holds, as clients tell them: in a header of their own, in the mail
    that is attached, or as if it were answered.
    """
    said = message.headers.all("x-forwarded-message-id")[:_MOST]
    yield from (found for value in said for found in _ID.findall(value)[:_MOST])
    yield from (one.message_id for one in _enclosed(message.root) if one.message_id is not None)
    yield from message.in_reply_to[:_MOST]
    yield from message.references[-1:]


def without_own(tx: ReadTx, runtime: Runtime, account: int, letter: Letter, mail: Incoming) -> Letter:
    """A letter that forked its thread, without the forwarded mail of our own: the thread knows it already, and as it
    was written.
    """
    if (
        runtime.forked(tx, account, letter.thread) is None
        or runtime.point(tx, account, forwarded(mail.message)) is None
    ):
        return letter
    enclosed = [one.message_id or "" for one in _enclosed(mail.message.root)]
    own = bool(enclosed) and all(runtime.is_own(tx, account, one) for one in enclosed)
    kept = tuple(file for file in letter.attachments if not own or file.media_type != "message/rfc822")
    origin = letter.origin if kept else Origin.TYPED
    return replace(letter, foreign="", attachments=kept, origin=origin)


def _enclosed(part: Part) -> Iterator[Message]:
    if part.embedded is not None:
        yield part.embedded
    for child in part.children[:_MOST]:
        yield from _enclosed(child)
