"""Failure cases A (knowledge of other systems): crashes, retries and effects. Each test is named with its number."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from agents.ids import message_id
from agents.letter import Kind
from agents.ports import WriteTx
from tests.agents.kit import world
from tests.agents.script import say, want

MAIL = {"to": ["maya@example.org"], "subject": "Hello", "text": "Hi."}


async def test_case_01_an_effect_without_a_stored_result_is_asked_about_not_repeated(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="rocket")), say("Done.")]) as w:
        w.effects.hold["fire"] = asyncio.Event()
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.until(lambda: w.effects.seen or None)
        await w.restart()
        request = await w.request()
        assert request.view.unknown_outcome
        assert request.decisions == ("done", "skip", "approve")
        assert w.effects.seen == ["fire:rocket"]
        assert await w.wait_for(got.run, "waiting_unknown")
        await w.decide(request, "done")
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["fire:rocket"]


async def test_case_01_a_read_is_simply_done_again(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send()
        await w.until(lambda: w.effects.seen or None)
        del w.effects.hold["look"]
        await w.restart()
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["look:a", "look:a"]


async def test_case_01_the_user_may_let_an_unknown_effect_happen_a_second_time(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="rocket")), say("Done.")]) as w:
        w.effects.hold["fire"] = asyncio.Event()
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.until(lambda: w.effects.seen or None)
        del w.effects.hold["fire"]
        await w.restart()
        request = await w.request()
        assert "second time" in w.mails(Kind.REQUEST)[-1].body
        await w.decide(request, "approve")
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["fire:rocket", "fire:rocket"]
        assert [row["revision"] for row in w.rows("SELECT revision FROM approvals ORDER BY revision")] == [1, 2]


async def test_case_02_a_reply_lost_after_the_mail_was_handed_over_is_unknown(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("send_mail", **MAIL)), say("Done.")]) as w:
        w.relay.fate = "drop"
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.wait_for(got.run, "waiting_unknown")
        w.clock.advance(hours=1)
        await w.runtime.tick()
        assert len(w.relay.taken) == 1
        await w.decide(await w.request(), "skip")
        assert await w.ended(got.run) == "done"
        assert len(w.relay.taken) == 1


@pytest.mark.parametrize("fate", ["connect", "refuse4"])
async def test_case_02_what_fails_before_is_sent_again_with_the_same_message_id(tmp_path: Path, fate: str) -> None:
    async with world(tmp_path, [say("", want("send_mail", **MAIL)), say("Done.")]) as w:
        w.relay.fate = fate
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.wait_for(got.run, "waiting_send")
        await w.until(lambda: w.rows("SELECT 1 FROM outbox WHERE kind = 'mail' AND attempt = 1 AND state = 'queued'"))
        assert w.relay.taken == []
        w.relay.fate = "ok"
        w.clock.advance(seconds=120)
        await w.runtime.tick()
        assert await w.ended(got.run) == "done"
        [row] = w.rows("SELECT key, state, attempt, message_id FROM outbox WHERE kind = 'mail'")
        assert [taken.message_id for taken in w.relay.taken] == [message_id(row["key"], "postroom.internal")]
        assert (row["state"], row["attempt"]) == ("sent", 2)


async def test_case_02_a_permanent_refusal_is_told_to_the_model(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("send_mail", **MAIL)), say("Not done: no such user.")]) as w:
        w.relay.fate = "refuse5"
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.ended(got.run)
        [call] = w.calls(got.run)
        assert (call["state"], call["result"]) == (
            "failed",
            "The mail was not sent: the relay refused it: no such user",
        )


async def test_case_03_one_call_is_one_mail_and_its_message_id_is_made_from_the_call(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("send_mail", **MAIL)), say("Done.")]) as w:
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.ended(got.run)
        [call] = w.calls(got.run)
        [taken] = w.relay.taken
        assert taken.message_id == message_id(call["idem_key"], "postroom.internal")
        assert taken.mail.to == ("maya@example.org",)


async def test_case_04_a_done_call_is_not_entered_again(tmp_path: Path) -> None:
    calls = [want("file", what="a"), want("file", what="b"), want("file", what="c")]
    async with world(tmp_path, [say("", *calls), say("Done.")]) as w:
        got = await w.send()
        w.effects.hold["file"] = asyncio.Event()
        request = await w.request()
        w.effects.hold.clear()
        await w.decide(request, "approve", items=(1, 2))
        await w.until(lambda: len(w.effects.seen) == 2 or None)
        await w.wait_for(got.run, "waiting_approval")
        await w.restart()
        await w.decide(await w.request(), "approve")
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["file:a", "file:b", "file:c"]


async def test_case_06_result_and_state_are_one_transaction(tmp_path: Path) -> None:
    """A failure in the middle of the ending leaves nothing of it behind."""
    async with world(tmp_path, [say("Done.")]) as w:

        def refuse(tx: WriteTx, event: object) -> None:
            raise RuntimeError("a subscriber failed")

        from agents.events import RunEnded

        w.db.on(RunEnded, refuse)
        got = await w.send()
        await w.runtime.idle()
        assert w.state(got.run) == "running"
        assert w.mails() == []


async def test_case_07_a_notification_is_one_row_whatever_happens_around_it(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        got = await w.send()
        await w.ended(got.run)
        [mail] = w.mails()
        assert await w.db.write(lambda tx: w.runtime.mark_delivered(tx, mail.key, "inbox-7"))
        assert not await w.db.write(lambda tx: w.runtime.mark_delivered(tx, mail.key, "inbox-8"))
        await w.restart()
        assert w.mails() == []


async def test_case_08_a_run_that_was_in_hand_goes_on_at_the_next_start(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send()
        await w.until(lambda: w.effects.seen or None)
        await w.runtime.stop(grace=0)
        assert w.state(got.run) == "running"
        del w.effects.hold["look"]
        await w.db.close()
        await w.open()
        assert await w.ended(got.run) == "done"


async def test_case_09_the_next_start_waits_for_no_lease(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        w.effects.hold["look"] = asyncio.Event()
        got = await w.send()
        await w.until(lambda: w.effects.seen or None)
        await w.runtime.stop(grace=0)
        await w.db.close()
        w.effects.hold.clear()
        before = w.clock.now()
        await w.open()
        await w.ended(got.run)
        assert w.clock.now() == before


async def test_case_10_an_end_is_never_left(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        got = await w.send()
        await w.ended(got.run)
        with (
            sqlite3.connect(tmp_path / "postroom.db") as raw,
            pytest.raises(sqlite3.IntegrityError, match="stays ended"),
        ):
            raw.execute("UPDATE runs SET state = 'queued', ended = NULL WHERE id = ?", (got.run,))
        raw.close()
        assert not await w.db.write(lambda tx: w.runtime.cancel_run(tx, 1, str(got.run), "too late"))


CORRUPT = [
    ("runs", "state", "runnin"),
    ("runs", "raised", "{"),
    ("tool_calls", "state", "maybe"),
    ("tool_calls", "args", "not json"),
    ("tool_calls", "args", '["x"]'),
    ("approvals", "state", "yes"),
    ("requests", "state", ""),
    ("outbox", "state", "gone"),
    ("steps", "kind", "thought"),
    ("letters", "state", "new"),
]


@pytest.mark.parametrize(("table", "column", "value"), CORRUPT)
async def test_case_11_no_column_takes_a_state_that_does_not_exist(
    tmp_path: Path, table: str, column: str, value: str
) -> None:
    async with world(tmp_path, [say("", want("fire", what="x")), say("Done.")]) as w:
        await w.send()
        await w.request()
        raw = sqlite3.connect(tmp_path / "postroom.db")
        raw.execute("DROP TRIGGER steps_append_only")
        with pytest.raises(sqlite3.IntegrityError):
            raw.execute(f"UPDATE {table} SET {column} = ?", (value,))
        raw.close()


@pytest.mark.parametrize("how", ["skip", "respond", "reject", "expire", "stop"])
async def test_what_is_in_doubt_is_never_said_to_be_not_done(tmp_path: Path, how: str) -> None:
    async with world(tmp_path, [say("", want("fire", what="rocket")), say("Done.")]) as w:
        w.effects.hold["fire"] = asyncio.Event()
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.until(lambda: w.effects.seen or None)
        await w.restart()
        request = await w.request()
        if how == "stop":
            await w.word("stop")
            assert "Fire: may have happened at" in w.mails(Kind.FAILURE)[0].body
        elif how == "expire":
            w.clock.advance(hours=73)
            await w.runtime.tick()
        else:
            await w.decide(request, how, text="I do not know")
        await w.wait_for(got.run, "done", "cancelled")
        [call] = w.calls(got.run)
        assert call["result"].startswith("It is not known whether this happened.")
        assert w.effects.seen == ["fire:rocket"]


async def test_a_mail_taken_back_before_it_was_sent_is_not_in_doubt(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("send_mail", **MAIL)), say("Done.")]) as w:
        w.relay.fate = "connect"
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.until(lambda: w.rows("SELECT 1 FROM outbox WHERE kind = 'mail' AND attempt = 1 AND state = 'queued'"))
        await w.word("stop")
        assert await w.ended(got.run) == "cancelled"
        assert "Nothing was sent and nothing was changed." in w.mails(Kind.FAILURE)[0].body
        assert w.rows("SELECT state FROM outbox WHERE kind = 'mail'") == [{"state": "withdrawn"}]
