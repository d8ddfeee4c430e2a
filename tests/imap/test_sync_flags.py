"""The texts of FLAGS: \\Recent where this session has it, and the same text for the same flags."""

from array import array
from types import SimpleNamespace
from typing import Any

from bridge.imap.items.flags import FlagTexts
from bridge.imap.sync import flag_texts
from bridge.imap.view import Shelf, View
from mailstore.model import FlagSet, ModSeq

SEEN = FlagSet(1, (), 1)
PLAIN = FlagSet(0, (), 0)


def told(view: View, uids: Any, sets: list[FlagSet]) -> list[bytes]:
    session: Any = SimpleNamespace(flag_texts=FlagTexts())
    selected: Any = SimpleNamespace(view=view)
    return flag_texts(session, selected, uids, sets)


def test_recent_is_told_of_just_the_messages_that_have_it() -> None:
    uids = array("I", [2, 4, 6, 8, 9, 12])
    view = View(1, uids, ModSeq(1), Shelf())
    assert told(view, uids, [SEEN] * 6) == [b"\\Seen"] * 6
    view.claim(3, 6)
    view.claim(9, 10)
    view.claim(20, 30)
    recent = [view.is_recent(uid) for uid in uids]
    assert recent == [False, True, True, False, True, False]
    sets = [SEEN, PLAIN] * 3
    texts = {
        (SEEN, False): b"\\Seen",
        (PLAIN, False): b"",
        (SEEN, True): b"\\Seen \\Recent",
        (PLAIN, True): b"\\Recent",
    }
    assert told(view, uids, sets) == [texts[each] for each in zip(sets, recent, strict=True)]
    some = [4, 9]
    assert told(view, some, [SEEN, PLAIN]) == [b"\\Seen \\Recent", b"\\Recent"]
    assert told(view, [], []) == []
