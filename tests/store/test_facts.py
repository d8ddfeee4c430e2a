"""What never changes of messages, kept in memory: brought up to date by what is new, and given up for what has left."""

from typing import Any

import pytest

from bridge.imap.items import RENDERERS
from mailstore import content, facts, messages, removal
from mailstore.facts import NOTHING, Facts
from mailstore.store import Store
from tests.store.helpers import Clock, Desk, mail, make_desk


async def known(desk: Desk, name: str = "INBOX") -> Facts:
    found = await desk.store.facts(desk.box(name).id)
    assert found is not None
    return found


async def test_the_same_columns_are_given_until_something_comes_or_goes(desk: Desk) -> None:
    for size in range(5):
        await desk.append("INBOX", mail(body="x" * size))
    first = await known(desk)
    await desk.flag("INBOX", [1, 2, 3], "\\Seen")
    assert await known(desk) is first
    await desk.append("INBOX", mail("another"))
    await desk.delete("INBOX", [2])
    second = await known(desk)
    assert list(second.uids) == [1, 3, 4, 5, 6]
    assert list(second.sizes)[:4] == [first.sizes[at] for at in (0, 2, 3, 4)]
    assert list(first.uids) == [1, 2, 3, 4, 5]  # who still holds the old ones keeps them whole


async def test_an_empty_mailbox_and_one_that_was_emptied(desk: Desk) -> None:
    assert list((await known(desk)).uids) == []
    await desk.append("INBOX")
    assert len((await known(desk)).uids) == 1
    await desk.delete("INBOX", [1])
    assert [list(column) for column in (await known(desk)).columns] == [[]] * 6


async def test_many_at_once_are_read_by_a_thread(desk: Desk) -> None:
    prepared = desk.store.prepare(mail())
    box = desk.box("INBOX")
    await desk.write(lambda tx: [messages.append(tx, box, prepared) for _ in range(200)])
    assert len(set((await known(desk)).contents)) == 1
    await desk.delete("INBOX", list(range(1, 150)))
    assert list((await known(desk)).uids) == list(range(150, 201))


async def test_positions_are_cut_out_or_picked(desk: Desk) -> None:
    for size in range(6):
        await desk.append("INBOX", mail(body="x" * size))
    found = await known(desk)
    assert list(found.at(range(1, 4)).uids) == list(found.at([1, 2, 3]).uids) == [2, 3, 4]
    assert found.at([0, 5]).sizes.tolist() == [found.sizes[0], found.sizes[5]]


async def test_a_message_that_left_before_it_was_read_gives_no_facts(desk: Desk) -> None:
    await desk.append("INBOX")
    await desk.append("INBOX")
    uids, box = desk.store.index(desk.box("INBOX").id).uids, desk.box("INBOX")
    await desk.delete("INBOX", [2])
    assert desk.read(lambda tx: facts.following(tx, box, NOTHING, uids)) is None


@pytest.mark.parametrize("dense", [True, False])
async def test_stored_forms_are_those_of_the_rows(clock: Clock, store: Store, *, dense: bool) -> None:
    store.renderers = RENDERERS
    await store.housekeeping.stop()
    desk = await make_desk(store, clock, "ada")
    for number in range(40):
        await desk.append("Archive", mail(f"number {number}", body="x" * number))
    wanted = list(range(1, 41)) if dense else [1, 9, 10, 30, 31, 40]
    names = tuple(RENDERERS)
    found = (await known(desk, "Archive")).at([uid - 1 for uid in wanted])
    rows = desk.fetch("Archive", wanted, *names, header=True)

    def stored(**makers: Any) -> Any:
        there = desk.read(lambda tx: messages.stored(tx, found, names, header=True, **makers))
        return there and [(each.content, each.header, each.rendered) for each in there]

    assert stored() is None  # they are rendered behind the commit
    assert stored(renderers=RENDERERS) == [(row.content, row.header, row.rendered) for row in rows]
    await store.housekeeping.settle()
    assert stored() == [(row.content, row.header, row.rendered) for row in rows]
    assert desk.fetch("Archive", wanted, *names, header=True) == rows
    bodies = desk.read(lambda tx: messages.first_chunks(tx, found.contents))
    assert bodies == {row.content: desk.raw("Archive", row.uid) for row in rows}


async def test_a_form_that_is_not_stored_and_bytes_that_were_swept_send_the_asker_to_the_rows(desk: Desk) -> None:
    await desk.append("INBOX", mail("one"))
    await desk.append("INBOX", mail("two"))
    found = await known(desk)
    assert desk.read(lambda tx: messages.stored(tx, found, ("imap.envelope.1",))) is None
    await desk.delete("INBOX", [1])
    await desk.delete("Trash", [1])
    await desk.write(lambda tx: (removal.collect(tx), content.sweep(tx)))
    assert desk.read(lambda tx: messages.stored(tx, found, (), header=True)) is None
    assert len(desk.read(lambda tx: messages.first_chunks(tx, found.contents))) == 1
