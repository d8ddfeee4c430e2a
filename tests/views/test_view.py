"""The pure view: what is told, once, in which order, and what waits."""

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.imap.view import FEW, Shelf, Told, View, uid_list
from mailstore.model import Delta, ModSeq, Uid


def view_of(*uids: int, shelf: Shelf | None = None) -> View:
    return View(1, uid_list(uids), ModSeq(10), shelf or Shelf())


def delta(
    highest: int, *, arrived: tuple[int, ...] = (), gone: tuple[int, ...] = (), changed: tuple[int, ...] = ()
) -> Delta:
    came, went, other = ([Uid(uid) for uid in each] for each in (arrived, gone, changed))
    return Delta(ModSeq(highest), came, went, other)


def pairs(*numbered: tuple[int, int]) -> tuple[tuple[int, Uid], ...]:
    return tuple((number, Uid(uid)) for number, uid in numbered)


def test_an_arrival_is_told_once() -> None:
    view = view_of(1, 2)
    view.note(delta(11, arrived=(5, 6)))
    assert view.tell(gone=False) == Told(exists=4, recent=0)
    assert not view.tell(gone=True)
    assert view.modseq == 11


def test_departures_are_told_from_the_highest_number_down() -> None:
    view = view_of(1, 3, 5, 7)
    view.note(delta(11, gone=(1, 5)))
    assert view.tell(gone=True).gone == ((3, 5), (1, 1))
    assert list(view.uids) == [3, 7]


def test_a_departure_that_may_not_be_told_moves_no_number() -> None:
    view = view_of(1, 3, 5)
    view.note(delta(11, gone=(1,), changed=(5,)))
    told = view.tell(gone=False)
    assert told == Told(flags=pairs((3, 5)))
    assert view.number(5) == 3
    assert set(view.withheld) == {1}
    assert view.tell(gone=True).gone == ((1, 1),)
    assert view.number(5) == 2


def test_a_waiting_departure_counts_in_exists_until_it_is_told() -> None:
    view = view_of(1, 2)
    view.note(delta(11, gone=(1,), arrived=(3,)))
    assert view.tell(gone=False).exists == 3
    told = view.tell(gone=True)
    assert (told.gone, told.exists) == (((1, 1),), None)


def test_departure_and_arrival_together_count_what_is_left() -> None:
    view = view_of(1, 2)
    view.note(delta(11, gone=(1, 2), arrived=(3,)))
    assert view.tell(gone=True) == Told(gone=pairs((2, 2), (1, 1)), exists=1, recent=0)


def test_what_came_and_went_between_two_rounds_is_never_told() -> None:
    view = view_of(1)
    view.note(delta(11, arrived=(2, 3)))
    view.note(delta(12, gone=(2,)))
    assert view.tell(gone=True) == Told(exists=2, recent=0)
    assert list(view.uids) == [1, 3]
    view.note(delta(13, arrived=(4,)))
    view.note(delta(14, gone=(4,)))
    assert not view.tell(gone=False)


def test_own_silent_flags_are_not_told_but_others_are() -> None:
    view = view_of(1, 2)
    view.note(delta(11, changed=(1,)))
    view.note(delta(12, changed=(1, 2)), silent=True)
    assert view.tell(gone=False).flags == ((1, 1),)


def test_flags_just_answered_are_not_told_again() -> None:
    view = view_of(1, 2)
    view.note(delta(11, changed=(1, 2)))
    view.forget_flags([Uid(1)])
    assert view.tell(gone=False).flags == ((2, 2),)


def test_flags_of_what_leaves_or_is_new_are_not_told() -> None:
    view = view_of(1, 2)
    view.note(delta(11, arrived=(3,), changed=(1, 2)))
    view.note(delta(12, gone=(1,)))
    assert view.tell(gone=True) == Told(gone=pairs((1, 1)), exists=2, recent=0, flags=pairs((1, 2)))


def test_recent_ranges_join_and_count_what_is_there() -> None:
    view = view_of(1, 2, 5, 6)
    view.claim(5, 6)
    view.claim(7, 9)
    view.claim(9, 8)
    assert view.recent == ((5, 9),)
    assert view.recent_count() == 2
    assert [view.is_recent(uid) for uid in (2, 5, 9, 10)] == [False, True, True, False]


def test_sessions_that_believe_the_same_share_one_list() -> None:
    shelf = Shelf()
    first, second = view_of(1, 2, shelf=shelf), view_of(1, 2, shelf=shelf)
    assert first.uids is second.uids
    for view in (first, second):
        view.note(delta(11, arrived=(3,)))
        view.tell(gone=True)
    assert first.uids is second.uids
    assert list(first.uids) == [1, 2, 3]


def test_a_list_is_never_changed_under_another_session() -> None:
    shelf = Shelf()
    first, second = view_of(1, 2, 3, shelf=shelf), view_of(1, 2, 3, shelf=shelf)
    first.note(delta(11, gone=(2,)))
    first.tell(gone=True)
    assert list(second.uids) == [1, 2, 3]


def test_a_shelf_never_hands_out_a_list_that_differs() -> None:
    shelf = Shelf()
    kept = shelf.put(1, 10, array("I", [1, 2]))
    other = array("I", [1])
    assert shelf.put(1, 10, other) is other
    assert kept == array("I", [1, 2])


@pytest.mark.parametrize("size", [FEW, FEW + 1])
def test_few_and_many_departures_leave_the_same(size: int) -> None:
    view = view_of(*range(1, 200))
    view.note(delta(11, gone=tuple(range(2, 2 * size + 1, 2))))
    told = view.tell(gone=True)
    assert len(told.gone) == size
    assert list(view.uids) == [uid for uid in range(1, 200) if uid % 2 or uid > 2 * size]


HISTORY = st.lists(
    st.tuples(st.sampled_from(["arrive", "leave", "flag", "tell", "tell all"]), st.integers(0, 30)), max_size=60
)


def test_the_flags_of_what_came_and_went_unheard_are_not_told() -> None:
    view = view_of(1, 2, 3)
    view.note(delta(11, arrived=(4,)))
    view.note(delta(12, changed=(4,)))
    view.note(delta(13, gone=(4,)))
    assert not view.tell(gone=False)
    assert list(view.uids) == [1, 2, 3]


@given(HISTORY)
def test_who_only_hears_what_is_told_knows_the_mailbox(history: list[tuple[str, int]]) -> None:
    """A listener applies EXPUNGE and EXISTS to a bare list of positions; at each full round it has the right ones."""
    truth, view, heard, modseq, next_uid = [1, 2, 3], view_of(1, 2, 3), [1, 2, 3], 10, 4
    for what, pick in history:
        modseq += 1
        if what == "arrive":
            truth.append(next_uid)
            view.note(delta(modseq, arrived=(next_uid,)))
            next_uid += 1
        elif what == "leave" and truth:
            view.note(delta(modseq, gone=(truth.pop(pick % len(truth)),)))
        elif what == "flag" and truth:
            view.note(delta(modseq, changed=(truth[pick % len(truth)],)))
        elif what.startswith("tell"):
            told = view.tell(gone=what == "tell all")
            for number, uid in told.gone:
                assert heard.pop(number - 1) == uid
            if told.exists is not None:
                assert told.exists > len(heard)
                heard.extend(view.uids[len(heard) : told.exists])
            assert all(heard[number - 1] == uid for number, uid in told.flags)
            assert heard == list(view.uids)
            if what == "tell all":
                assert heard == truth
