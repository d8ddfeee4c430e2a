"""Two approvals: nothing is done before both have said yes, each under their own name, once, to the same thing."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agents.approvals import Decided, Decision
from agents.audit import Entry
from agents.requests import RequestInfo
from agents.seconds import Seat
from bridge.sink import Sink
from config.settings import Approvals
from tests.post.desk import AGENT, NOTES, SEND, Desk, Kept, Person, asked, counts, desk, opened

TWO = Approvals(two=("send_mail",), second=("bo", "ada"))


@dataclass(frozen=True, slots=True)
class House:
    """Ada, whose tasks they are, and Bo, who must agree."""

    desk: Desk
    ada: Person
    bo: Person

    async def asked(self) -> tuple[Kept, Kept]:
        """A request to send, as it lies before both."""
        await self.ada.write(AGENT, "Notes from Tuesday", SEND, files={"notes.txt": NOTES})
        return await self.ada.mail("Approve?"), await self.bo.mail("Approve?")

    def audit(self, what: str) -> list[Entry]:
        app = self.desk.app
        rows = app.store.read(lambda tx: app.runtime.trail(tx, self.ada.identity.account, 200))
        return [row for row in rows if row.what == what]

    def info(self) -> RequestInfo:
        app = self.desk.app
        (found,) = app.store.read(lambda tx: app.runtime.waiting(tx, self.ada.identity.account))
        return found

    async def decide(self, person: Person, request: RequestInfo, verdict: str = "approve", **more: Any) -> Decided:
        """Decide as the reader of a mail does, without the mail."""
        app, seat = self.desk.app, Seat.OWNER if person is self.ada else Seat.SECOND
        made = Decision(request.account, request.id, verdict, person.address, "test", app.clock.now(), request.revision)
        return await app.store.write(lambda tx: app.runtime.decide(tx, replace(made, seat=seat, **more)))


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with desk(tmp_path / "home", approvals=TWO) as made:
        yield House(made, await made.person("ada"), await made.person("bo"))


async def half_approved(house: House, person: Person, request: Kept) -> Kept:
    """One of the two says yes; what they are told."""
    await person.reply(request, "approve")
    told = await person.mail("Re: Approve?")
    assert "One of two" in told.text
    assert house.desk.sink.messages == []
    return told


@pytest.mark.parametrize("owner_first", [True, False])
async def test_both_must_approve(house: House, owner_first: bool) -> None:
    before_ada, before_bo = await house.asked()
    assert "Two people must agree to this: you (ada@postroom.internal) and bo@postroom.internal" in before_ada.text
    assert "Two people must agree to this: you (bo@postroom.internal) and ada@postroom.internal" in before_bo.text
    assert "This is a task of ada@postroom.internal" in before_bo.text
    assert before_ada.message["Reply-To"] != before_bo.message["Reply-To"]
    first, second = (house.ada, house.bo) if owner_first else (house.bo, house.ada)
    await half_approved(house, first, before_ada if owner_first else before_bo)
    await second.reply(before_bo if owner_first else before_ada, "approve")
    (sent,) = await house.desk.sink.wait(1)
    assert sent.recipients == ("maya@example.org",)
    result = await house.ada.wait("INBOX", lambda all: any("send_mail 1 (approved by" in kept.text for kept in all))
    assert "by you at" in result[-1].text
    assert "by bo@postroom.internal at" in result[-1].text
    for person in (house.ada, house.bo):
        assert person.mails("Action") == []
        assert any("$Approved" in kept.keywords for kept in person.mails())
    assert [row.facts["by"] for row in house.audit("approval.voted")] == [second.address, first.address]
    (approved,) = house.audit("approval.approved")
    assert (approved.facts["by"], approved.facts["first_by"]) == (second.address, first.address)


async def test_the_same_person_twice_is_one(house: House) -> None:
    request, _ = await house.asked()
    await half_approved(house, house.ada, request)
    await house.ada.reply(request, "approve")
    assert "One of two" in (await house.ada.mail("Re: Approve?", nth=2)).text
    await house.decide(house.ada, house.info())
    await house.desk.settled()
    assert house.desk.sink.messages == []
    assert len(house.audit("approval.voted")) == 1


async def test_what_the_first_forwards_does_not_count_as_the_second(house: House) -> None:
    """Neither the token of the second under the session of the first, nor the first's own mail from the second."""
    mine, theirs = await house.asked()
    await half_approved(house, house.ada, mine)
    await house.ada.reply(theirs, "approve")  # Bo has passed his mail on, and Ada answers it
    await house.bo.reply(mine, "approve")  # and the other way round
    await house.desk.settled()
    assert house.desk.sink.messages == []
    assert "no request of yours" in (await house.bo.mail("Re: Approve?")).text
    assert len(house.audit("approval.voted")) == 1
    await house.bo.reply(theirs, "approve")
    await house.desk.sink.wait(1)


@pytest.mark.parametrize("word", ["reject: not to her", "stop", "no, ask me first"])
@pytest.mark.parametrize("of_owner", [True, False])
async def test_a_no_of_either_ends_it(house: House, of_owner: bool, word: str) -> None:
    mine, theirs = await house.asked()
    first, second = ((house.bo, theirs), (house.ada, mine)) if of_owner else ((house.ada, mine), (house.bo, theirs))
    await half_approved(house, *first)
    await second[0].reply(second[1], word)
    await house.ada.mail("Re: Notes from Tuesday")
    await house.desk.settled()
    assert house.desk.sink.messages == []
    assert house.ada.mails("Action") == house.bo.mails("Action") == []
    await first[0].reply(first[1], "approve")
    assert "already" in (await first[0].mail("Re: Approve?", nth=2)).text
    assert house.desk.sink.messages == []


async def test_a_second_who_throws_the_mail_away_refuses(house: House) -> None:
    _, theirs = await house.asked()
    await house.bo.move(theirs, "INBOX", "Trash")
    await house.ada.mail("Re: Notes from Tuesday")
    (refused,) = house.audit("approval.rejected")
    assert refused.facts["by"] == "bo@postroom.internal"


@pytest.mark.parametrize("by_owner", [True, False])
async def test_a_change_begins_anew_for_both(house: House, by_owner: bool) -> None:
    mine, theirs = await house.asked()
    await half_approved(house, house.ada, mine)
    editor, theirs_or_mine = (house.ada, mine) if by_owner else (house.bo, theirs)
    await editor.reply(theirs_or_mine, "edit\nSubject: Something else")
    again, to_second = (
        await house.ada.mail("Approve?", nth=3),
        await house.bo.mail("Approve?", nth=2),
    )
    assert "Something else" in again.text
    await house.bo.reply(to_second, "approve")
    assert "One of two" in (await house.bo.mail("Re: Approve?")).text
    await house.bo.reply(theirs, "approve")
    assert house.desk.sink.messages == []
    await house.ada.reply(again, "approve")
    (sent,) = await house.desk.sink.wait(1)
    assert b"Something else" in sent.data


async def test_no_standing_approval_gets_round_it(house: House) -> None:
    """It is not offered, it is not taken, and one that was made before is not used."""
    mine, _ = await house.asked()
    assert "always" not in mine.text
    assert (await house.decide(house.ada, house.info(), always=True)).outcome == "refused"
    await house.ada.reply(mine, "always approve")
    assert "not offered" in (await house.ada.mail("Re: Approve?")).text
    assert house.desk.sink.messages == []
    assert house.desk.app.store.read(lambda tx: house.desk.app.runtime.grants(tx, house.ada.identity.account)) == []


async def test_both_at_once_and_many_times(house: House) -> None:
    await house.asked()
    request = house.info()
    people = [house.ada, house.bo] * 10
    outcomes = [one.outcome for one in await asyncio.gather(*(house.decide(one, request) for one in people))]
    assert (outcomes.count("half"), outcomes.count("approved")) == (1, 1)
    assert set(outcomes) == {"half", "approved", "already"}
    assert len(await house.desk.sink.wait(1)) == 1
    await house.desk.settled()
    assert len(house.desk.sink.messages) == 1


async def test_yes_and_no_at_once(house: House) -> None:
    mine, _ = await house.asked()
    await half_approved(house, house.ada, mine)
    request = house.info()
    yes, no = await asyncio.gather(house.decide(house.bo, request), house.decide(house.ada, request, "reject"))
    assert sorted([yes.outcome, no.outcome]) in (["already", "approved"], ["already", "rejected"])
    await house.ada.mail("Re: Notes from Tuesday")
    assert len(house.desk.sink.messages) == (yes.outcome == "approved")


async def test_the_first_approval_outlives_a_restart(tmp_path: Path) -> None:
    sink = Sink()
    port = await sink.start()
    home = tmp_path / "home"
    try:
        async with opened(home, sink, port, approvals=TWO) as first:
            house = House(first, await first.person("ada"), await first.person("bo"))
            mine, theirs = await house.asked()
            await half_approved(house, house.ada, mine)
        async with opened(home, sink, port, approvals=TWO) as again:
            ada, bo = Person(again, house.ada.identity), Person(again, house.bo.identity)
            await ada.reply(mine, "approve")
            await ada.mail("Re: Approve?", nth=2)
            assert sink.messages == []
            await bo.reply(theirs, "approve")
            await sink.wait(1)
    finally:
        await sink.close()


async def test_the_expiry_is_that_of_both(house: House) -> None:
    mine, theirs = await house.asked()
    await half_approved(house, house.ada, mine)
    request = house.info()
    late = await house.decide(house.bo, request, at=request.expires)
    assert late.outcome == "expired"
    await house.bo.reply(theirs, "approve")
    assert "expired" in (await house.bo.mail("Re: Approve?")).text
    assert house.desk.sink.messages == []
    assert house.bo.mails("Action") == house.ada.mails("Action") == []


async def test_only_who_has_not_approved_is_reminded(tmp_path: Path) -> None:
    async with desk(tmp_path / "home", approvals=replace(TWO, expire_hours=24.001, remind_hours=24)) as made:
        house = House(made, await made.person("ada"), await made.person("bo"))
        mine, _ = await house.asked()
        await half_approved(house, house.ada, mine)
        reminder = await house.bo.mail("Reminder: Approve?")
        assert not [kept for kept in house.ada.mails() if "Reminder" in kept.message["Subject"]]
        await house.bo.reply(reminder, "approve")
        await made.sink.wait(1)


@pytest.mark.parametrize("name", ["nobody", "bo@example.org"])
async def test_without_a_second_person_nothing_goes_ahead(tmp_path: Path, name: str) -> None:
    """Nor with one outside, whom no request reaches."""
    async with desk(tmp_path / "home", approvals=replace(TWO, second=("ada", name))) as made:
        ada = await made.person("ada")
        request = await asked(ada)
        assert "it cannot be done" in request.text
        await ada.reply(request, "approve")
        assert "none of those" in (await ada.mail("Re: Approve?")).text
        await ada.reply(request, "approve")
        await made.settled()
        assert made.sink.messages == []


async def test_a_second_sees_no_more_of_the_account(house: House) -> None:
    """Words about the work, the audit and the thread stay the owner's."""
    _, theirs = await house.asked()
    await house.bo.reply(theirs, "status")
    assert "somebody else's" in (await house.bo.mail("Re: Approve?")).text
    app = house.desk.app
    account = house.bo.identity.account
    assert app.store.read(lambda tx: app.runtime.waiting(tx, account)) == []
    assert app.store.read(lambda tx: app.runtime.request(tx, account, house.info().id)) is None
    assert (await house.decide(house.bo, replace(house.info(), account=account))).outcome == "refused"


async def test_the_database_itself_holds_it(house: House) -> None:
    """Whatever the code does: an item is not approved without two votes."""
    await house.asked()
    request = house.info().id
    from agents import store as rows

    app = house.desk.app
    (item,) = app.store.read(lambda tx: rows.items(tx, request))
    fields = {"id": item.id, "state": "approved", "comment": "", "by": "x", "via": "x", "now": 1}
    with pytest.raises(Exception, match="two people"):
        await app.store.write(lambda tx: tx.run("agents.requests.decide_item", **fields))


async def test_in_the_time_of_grace_the_second_may_still_stop_it(tmp_path: Path) -> None:
    """Of the task no more: the owner hears of it, and goes on."""
    async with desk(tmp_path / "home", approvals=replace(TWO, grace_seconds=600)) as made:
        house = House(made, await made.person("ada"), await made.person("bo"))
        mine, theirs = await house.asked()
        await house.bo.reply(theirs, "approve")
        await house.ada.reply(mine, "approve")
        await house.ada.mail("Re: Approve?")
        await house.bo.reply(theirs, "reject: wait")
        assert 'answer "stop" to keep it from happening' in (await house.bo.mail("Re: Approve?", nth=2)).text
        await house.bo.reply(theirs, "stop")
        assert "It was taken back" in (await house.bo.mail("Re: Approve?", nth=3)).text
        result = await house.ada.mail("Re: Notes from Tuesday")
        assert "send_mail 1 refused (taken back by bo@postroom.internal)" in result.text
        await made.settled()
        assert made.sink.messages == []
        (taken,) = house.audit("approval.taken-back")
        assert (taken.facts["by"], taken.facts["line"]) == ("bo@postroom.internal", "stop")
        await house.bo.reply(theirs, "stop")
        assert "already" in (await house.bo.mail("Re: Approve?", nth=4)).text
        assert len(house.audit("approval.taken-back")) == 1


async def test_what_has_begun_the_second_cannot_take_back(house: House) -> None:
    mine, theirs = await house.asked()
    await house.bo.reply(theirs, "approve")
    await house.ada.reply(mine, "approve")
    await house.desk.sink.wait(1)
    await house.ada.mail("Re: Notes from Tuesday")
    await house.bo.reply(theirs, "stop")
    assert "already approved" in (await house.bo.mail("Re: Approve?", nth=2)).text
    assert house.audit("approval.taken-back") == []
    assert len(house.desk.sink.messages) == 1


async def test_a_second_who_answers_a_notice_is_told_so_and_begins_no_task(house: House) -> None:
    _, theirs = await house.asked()
    await house.bo.reply(theirs, "Hi, approve")
    near = await house.bo.mail("Re: Approve?")
    await house.bo.reply(near, "approve")
    assert "none of the requests that wait here" in (await house.bo.mail("Re: Approve?", nth=2)).text
    assert counts(house.desk, house.bo) == {}
    assert house.audit("approval.voted") == []
