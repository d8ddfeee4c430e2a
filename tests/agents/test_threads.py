"""Letters that come one after the other, thread words, and two accounts that must not see each other."""

from functools import partial
from pathlib import Path

import pytest

from agents import requests, runs, store
from agents.letter import Attachment, Kind
from agents.llm import AssistantMessage, ModelError, ModelFault, ModelReply, UserMessage
from config.settings import Limits
from tests.agents.kit import World, world
from tests.agents.script import ScriptedModel, say, want


def last_request(w: World) -> list[object]:
    assert isinstance(w.model, ScriptedModel)
    return list(w.model.requests[-1].messages)


async def test_a_letter_while_the_run_is_at_work_reaches_it_at_its_next_step(tmp_path: Path) -> None:
    import asyncio

    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send("first")
        await w.until(lambda: w.effects.seen or None)
        fed = await w.send("and mind the date")
        assert (fed.outcome, fed.run) == ("fed", got.run)
        w.effects.hold["look"].set()
        assert await w.ended(got.run) == "done"
        last = last_request(w)[-1]
        assert isinstance(last, UserMessage)
        assert "and mind the date" in last.text
        assert len(w.mails()) == 1
        assert w.mails()[0].in_reply_to == "<2@client>"


async def test_a_letter_that_comes_with_the_last_words_starts_the_next_run(tmp_path: Path) -> None:
    sent: list[str | None] = []

    async with world(tmp_path, [say("Done."), say("Done too.")]) as w:
        model = w.model
        complete = model.complete

        async def late(request: object) -> ModelReply:
            reply = await complete(request)  # type: ignore[arg-type]  # the request is passed on as it came
            if not sent:
                sent.append((await w.send("one more thing")).run)
            return reply

        model.complete = late  # type: ignore[method-assign]  # a letter comes while the model speaks
        got = await w.send("first")
        await w.until(lambda: len(w.mails()) == 2 or None)
        assert sent == [got.run]
        assert [mail.body for mail in w.mails()] == ["Done.", "Done too."]
        assert len({mail.run for mail in w.mails()}) == 2


async def test_what_is_written_in_the_origin_after_the_mail_is_not_said_in_its_fork(tmp_path: Path) -> None:
    """The origin goes on: neither its later words nor its later files are the fork's."""
    notes = Attachment("ref-notes", "notes.txt", "text/plain", 29)
    async with world(tmp_path, [say("", want("file", what="a")), say("Done.")]) as w:
        await w.send("the first words")
        request = await w.request()
        w.clock.advance(seconds=1)
        await w.send("the later words", attachments=(notes,))
        await w.decide(request, "reject")
        await w.until(lambda: w.mails() or None)
        point = w.db.read(lambda tx: w.runtime.point(tx, 1, [request.message_id]))
        assert point is not None
        await w.db.write(lambda tx: w.runtime.fork(tx, 1, "thread-2", point))
        got = await w.send("the fork's words", thread="thread-2")
        run = w.db.read(lambda tx: store.get_run(tx, str(got.run)))
        said = w.db.read(lambda tx: requests.user_words(tx, run))
        assert "the first words" in said
        assert "the fork's words" in said
        assert "the later words" not in said
        assert w.db.read(lambda tx: runs.earlier_attachments(tx, run)) == ()


async def test_a_follow_up_starts_a_run_that_knows_the_thread(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done: blue."), say("Done: green.")]) as w:
        first = await w.send("which colour?")
        await w.ended(first.run)
        second = await w.send("another one")
        assert second.outcome == "started"
        await w.ended(second.run)
        texts = [message.text for message in last_request(w) if isinstance(message, UserMessage | AssistantMessage)]
        assert "which colour?" in texts[0]
        assert texts[1] == "Done: blue."
        assert "another one" in texts[2]


async def test_the_agent_is_told_which_older_mail_is_answered(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done: one."), say("Done: two."), say("Done: three.")]) as w:
        for text in ("first", "second"):
            await w.ended((await w.send(text)).run)
        for number, mail in enumerate(w.mails()):
            await w.db.write(partial(w.runtime.mark_delivered, key=mail.key, mail_ref=f"inbox-{number}"))
        third = await w.send("about the first", answers="inbox-0")
        await w.ended(third.run)
        last = last_request(w)[-1]
        assert isinstance(last, UserMessage)
        assert last.text.startswith('(The user answers an earlier mail of yours: "Re: A task" of ')
        newest = await w.send("about the last", answers=None)
        await w.ended(newest.run)
        last = last_request(w)[-1]
        assert isinstance(last, UserMessage)
        assert "earlier mail of yours" not in last.text


async def test_effects_of_an_earlier_run_are_told_to_the_next(tmp_path: Path) -> None:
    async with world(
        tmp_path, [say("", want("fire", what="a")), ModelError(ModelFault.REFUSED, "no"), say("Done.")]
    ) as w:
        first = await w.send()
        await w.decide(await w.request(), "approve")
        assert await w.ended(first.run) == "failed"
        assert "- Fire: done at" in w.mails(Kind.FAILURE)[0].body
        word = await w.word("retry")
        assert word.outcome == "started"
        await w.ended(word.run)
        said = [message.text for message in last_request(w) if isinstance(message, AssistantMessage)]
        assert "(Done in this task: Fire: done at" in said[0]


async def test_stop_with_nothing_to_stop(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        assert (await w.word("stop")).outcome == "nothing"
        assert (await w.word("retry")).text == "Nothing was begun in this thread yet."
        assert (await w.word("raise to 2 EUR")).outcome == "nothing"


async def test_a_word_acts_once_for_its_mail(tmp_path: Path) -> None:
    async with world(tmp_path, [ModelError(ModelFault.REFUSED, "no")]) as w:
        await w.ended((await w.send()).run)
        letter = w.letter("retry")
        first = await w.db.write(lambda tx: w.runtime.thread_word(tx, 1, "thread-1", "retry", letter))
        again = await w.db.write(lambda tx: w.runtime.thread_word(tx, 1, "thread-1", "retry", letter))
        assert (first.outcome, again.outcome) == ("started", "duplicate")
        assert len(w.rows("SELECT 1 FROM runs")) == 2


async def test_status_says_what_waits(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        await w.send()
        await w.request()
        word = await w.word("Status.")
        assert word.text == "Assistant waits for your approval: 1 model calls, 1 tools so far."
        assert (await w.word("continue")).outcome == "active"
        assert (await w.word("retry")).outcome == "active"


async def test_retry_does_not_wait_for_the_next_try(tmp_path: Path) -> None:
    fate = [ModelError(ModelFault.TRANSIENT, "503")]

    def speak(_: object) -> ModelReply:
        if fate:
            raise fate.pop()
        return say("Done.")

    async with world(tmp_path, [speak]) as w:
        got = await w.send()
        await w.wait_for(got.run, "waiting_time")
        assert (await w.word("retry")).outcome == "retried"
        assert await w.ended(got.run) == "done"


@pytest.mark.parametrize("text", ["stop", "Stop!", " continue ", "raise to 2 EUR", "raise to 1,50 eur.", "help"])
async def test_a_whole_text_may_be_a_word(tmp_path: Path, text: str) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        assert w.runtime.is_thread_word(text)


@pytest.mark.parametrize("text", ["stop that please", "", "please continue", "raise", "raise to the roof", "stopp"])
async def test_other_text_is_none(tmp_path: Path, text: str) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        assert not w.runtime.is_thread_word(text)


async def test_the_same_key_and_thread_in_another_account_are_another_thing(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("web", what="a")), say("Done."), say("Done.")]) as w:
        letter = w.letter()
        mine = await w.db.write(lambda tx: w.runtime.receive(tx, letter))
        await w.ended(mine.run)
        theirs = await w.send(account=2, key=letter.key)
        assert theirs.outcome == "started"
        await w.wait_for(theirs.run, "done")
        assert isinstance(w.model, ScriptedModel)
        assert not any("Done" in message.text for message in w.model.requests[2].messages)
        assert w.rows("SELECT taint FROM runs WHERE account = 2 AND created < 0") == []
        stop = await w.word("stop", account=2)
        assert stop.outcome == "nothing"


async def test_stop_of_one_account_leaves_the_other_alone(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        mine = await w.send()
        await w.request()
        theirs = await w.send(account=2)
        await w.wait_for(theirs.run, "waiting_approval")
        assert await w.db.write(lambda tx: w.runtime.cancel_thread(tx, 2, "thread-1", "gone")) == 1
        assert await w.ended(theirs.run) == "cancelled"
        assert w.state(mine.run) == "waiting_approval"
        assert not await w.db.write(lambda tx: w.runtime.cancel_run(tx, 2, str(mine.run), "not yours"))


async def test_a_notice_of_the_program_is_one_mail_however_often_it_is_queued(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.")], limits=Limits(runs=1)) as w:
        for _ in range(2):
            await w.db.write(
                lambda tx: w.runtime.notice(
                    tx,
                    key="n1",
                    account=1,
                    agent="assistant",
                    thread="t",
                    subject="Re: x",
                    body="No.",
                    in_reply_to="<a@b>",
                )
            )
        [mail] = w.mails()
        assert (mail.kind, mail.body, mail.in_reply_to) == (Kind.NOTICE, "No.", "<a@b>")
        assert w.db.read(lambda tx: w.runtime.is_own(tx, 1, mail.message_id))
        assert not w.db.read(lambda tx: w.runtime.is_own(tx, 2, mail.message_id))
