"""Three clients write at the same moment: whatever order the store puts them in, some order must explain what it holds.

Rule: what a client asks for is drawn before anyone has sent anything; then each order of the three is played on a copy
of the reference, and the one that the store agrees with becomes the reference.
"""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from tests.imap.harness import letter
from tests.views.believer import Believer, Broken
from tests.views.reference import STORED, VIEWS, Mail, Reference

if TYPE_CHECKING:
    from tests.views.histories import History


@dataclass
class Wish:
    """What one client asks for, and what that does to mailboxes as they are when its turn comes."""

    text: str
    say: Callable[[], Awaitable[object]]
    box: str
    mails: list[Mail]
    act: Callable[[Reference, list[Mail]], object]

    def play(self, reference: Reference, mails: Sequence[Mail], renamed: set[tuple[int, str]]) -> None:
        """On those of the messages that still stand under the UIDs by which the client names them. Who moves one out of
        a mailbox gives it another UID there, even if it stays or comes back; other views that show it do not notice."""
        there = reference.held(self.box) if self.box else []
        mine = [mail for mail in mails if (id(mail), self.box) not in renamed and any(mail is each for each in there)]
        before = {id(mail): (mail.order, mail.box) for mail in mine}
        self.act(reference, mine)
        for mail in mine:
            order, box = before[id(mail)]
            if mail.order != order:
                renamed |= {(id(mail), self.box), (id(mail), box)}


async def together(history: "History") -> None:
    """One such moment, if all clients are free for it."""
    wishes = [wish for client in history.clients if client.idle is None and (wish := _wish(history, client))]
    if len(wishes) < 2:
        return
    history.log.append("together: " + "; ".join(f"{wish.text!r} in {wish.box}" for wish in wishes))
    before = {box: history.reference.shown(box) for box in (*STORED, *VIEWS)}
    await asyncio.gather(*(wish.say() for wish in wishes))
    for order in permutations(range(len(wishes))):
        reference, mails = copy.deepcopy((history.reference, [wish.mails for wish in wishes]))
        renamed: set[tuple[int, str]] = set()
        for at in order:
            wishes[at].play(reference, mails[at], renamed)
        if all(_agrees(history, reference, box) for box in (*STORED, *VIEWS)):
            history.reference = reference
            return
    held = {box: [of[1:] for of in history.truth(box)] for box in (*STORED, *VIEWS)}
    raise Broken(f"no order of what was asked for at once explains {held}\n after {before}")


def _agrees(history: "History", reference: Reference, box: str) -> bool:
    return not reference.differs(box, [(subject, flags) for _, subject, flags in history.truth(box)])


def _wish(history: "History", client: Believer) -> Wish | None:
    choices = [_append] if client.mailbox is None else [_append, _store, _store, _store, _copy, _move, _expunge]
    return history.dice.choice(choices)(history, client)


def _append(history: "History", client: Believer) -> Wish:
    box, subject, flags = history.dice.choice(STORED), history.subject(), history.some_flags()
    raw = letter(subject)
    text = f'APPEND "{box}" ({" ".join(flags)}) {{{len(raw)}+}}\r\n{raw.decode()}'
    return Wish(text, lambda: client.say(text), "", [], lambda reference, _: reference.append(box, subject, flags))


def _named(history: "History", client: Believer) -> tuple[str, list[Mail], str]:
    """Some messages that the client knows: their mailbox, the reference's mails that are there now, the UIDs."""
    positions = history.some(client)
    uids = [client.slots[at].uid or 0 for at in positions]
    return client.mailbox or "", history.mails_of(client, positions), ",".join(map(str, uids))


def _store(history: "History", client: Believer) -> Wish | None:
    box, mails, uids = _named(history, client)
    change, flags = history.dice.choice(("+", "+", "-", "")), history.some_flags()
    if not uids or client.read_only:
        return None
    text = f"UID STORE {uids} {change}FLAGS ({' '.join(flags)})"
    return Wish(
        text, lambda: client.say(text), box, mails, lambda reference, them: reference.store(box, them, change, flags)
    )


def _copy(history: "History", client: Believer) -> Wish | None:
    box, mails, uids = _named(history, client)
    target = history.dice.choice(STORED)
    if not uids:
        return None
    text = f'UID COPY {uids} "{target}"'
    return Wish(text, lambda: client.say(text), box, mails, lambda reference, them: reference.copy(box, them, target))


def _move(history: "History", client: Believer) -> Wish | None:
    box, mails, uids = _named(history, client)
    target = history.dice.choice(STORED)
    if not uids or client.read_only:
        return None
    text = f'UID MOVE {uids} "{target}"'
    return Wish(text, lambda: client.say(text), box, mails, lambda reference, them: reference.move(box, them, target))


def _expunge(history: "History", client: Believer) -> Wish | None:
    """What is \\Deleted when it happens, of the messages named."""
    box, mails, uids = _named(history, client)
    if not uids or client.read_only:
        return None
    text = f"UID EXPUNGE {uids}"
    return Wish(text, lambda: client.say(text), box, mails, lambda reference, them: reference.expunge(box, them))
