"""What stands in the user's mailboxes: Activity as it changes, limits on what goes out, threads that are deleted."""

from pathlib import Path

from agents.events import OutboxQueued, RequestClosed, RequestOpened, RunEnded
from agents.letter import Kind
from agents.ports import WriteTx
from config.settings import Limits
from tests.agents.kit import NOTES, world
from tests.agents.script import say, want

MAIL = {"to": ["maya@example.org"], "subject": "Hello", "text": "Hi."}


async def test_activity_shows_a_waiting_run_and_is_replaced(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        got = await w.send()
        request = await w.request()
        assert got.run is not None
        await w.runtime.show_activity(got.run)
        await w.runtime.show_activity(got.run)
        [waiting] = w.mails(Kind.ACTIVITY)
        assert waiting.state == "waiting approval"
        assert waiting.activity is not None
        assert "(waits for you)" in waiting.activity.lines[-1].text
        await w.db.write(lambda tx: w.runtime.mark_delivered(tx, waiting.key, "activity-1"))
        await w.decide(request, "approve")
        await w.ended(got.run)
        [done] = w.mails(Kind.ACTIVITY)
        assert done.activity is not None
        assert done.activity.replaces == waiting.activity.replaces
        assert done.key != waiting.key
        await w.db.write(lambda tx: w.runtime.mark_delivered(tx, done.key, "activity-2"))
        rows = w.rows("SELECT key FROM outbox WHERE kind = 'activity'")
        assert rows == [{"key": done.key}]
        await w.runtime.show_activity(got.run)
        assert w.mails(Kind.ACTIVITY) == []


async def test_events_are_told_inside_the_transaction(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        told: list[tuple[str, str]] = []

        def on_request(tx: WriteTx, event: RequestOpened | RequestClosed) -> None:
            info = w.runtime.request(tx, event.account, event.request)
            assert info is not None
            told.append((type(event).__name__, info.state))

        def on_end(tx: WriteTx, event: RunEnded) -> None:
            told.append(("RunEnded", event.state))

        w.db.on(RequestOpened, on_request)
        w.db.on(RequestClosed, on_request)
        w.db.on(RunEnded, on_end)
        queued: list[str] = []
        w.db.on(OutboxQueued, lambda tx, event: queued.append(event.kind))
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.ended(got.run)
        assert told == [("RequestOpened", "open"), ("RequestClosed", "approved"), ("RunEnded", "done")]
        assert queued == ["request", "result", "activity"]


async def test_an_agent_sends_no_more_mails_an_hour_than_it_may(tmp_path: Path) -> None:
    turns = [say("", want("send_mail", **MAIL), want("send_mail", **{**MAIL, "subject": "Two"})), say("Done.")]
    async with world(tmp_path, turns, limits=Limits(mails_per_hour=1)) as w:
        got = await w.send()
        await w.decide(await w.request(), "approve")
        await w.wait_for(got.run, "waiting_send")
        await w.until(lambda: w.rows("SELECT 1 FROM outbox WHERE reply = 'too many mails this hour'"))
        assert len(w.relay.taken) == 1
        for _ in range(13):
            w.clock.advance(seconds=301)
            await w.runtime.tick()
        assert await w.ended(got.run) == "done"
        assert [taken.mail.subject for taken in w.relay.taken] == ["Hello", "Two"]


async def test_a_run_whose_request_finds_no_room_pauses_and_asks_when_there_is_some(tmp_path: Path) -> None:
    turns = [say("", want("fire", what="a"), want("look", what="b"), want("ask_user", question="Why?")), say("Done.")]
    async with world(tmp_path, turns, limits=Limits(open_approvals=3)) as w:
        await w.send()
        await w.request(1)
        second = await w.send(thread="thread-2")
        await w.wait_for(second.run, "waiting_budget")
        fire, look, ask = w.calls(second.run)
        assert [call["state"] for call in (fire, look, ask)] == ["waiting_approval", "done", "waiting_approval"]
        assert len(w.rows("SELECT 1 FROM requests WHERE state = 'open'")) == 3
        [paused] = [mail for mail in w.mails() if mail.body.startswith("Paused: as many of your requests wait")]
        assert 'Decide some of them (they stand in Action), then answer with "continue"' in paused.body
        assert (await w.word("continue", "thread-2")).text.startswith("It goes on, as far as there is room")
        await w.wait_for(second.run, "waiting_budget")
        await w.until(lambda: len([mail for mail in w.mails() if mail.body.startswith("Paused:")]) == 2 or None)
        for request in w.db.read(lambda tx: w.runtime.waiting(tx, 1)):
            verdict = "answer" if request.kind == "question" else "reject"
            await w.decide(request, verdict, text="so")
        await w.word("continue", "thread-2")
        question = await w.until(lambda: next(iter(w.db.read(lambda tx: w.runtime.waiting(tx, 1))), None))
        assert question.run == second.run
        await w.decide(question, "answer" if question.kind == "question" else "reject", text="so")
        assert await w.ended(second.run) == "done"
        assert w.rows("SELECT raised FROM runs WHERE id = ?", second.run)[0]["raised"].count("times") == 0


async def test_a_file_of_the_thread_goes_out_with_a_mail(tmp_path: Path) -> None:
    from agents.toolbox import Toolbox
    from agents.tools.send_mail import SPEC, SendMail

    async with world(tmp_path, [say("", want("send_mail", **MAIL, attachments=["notes.txt"])), say("Done.")]) as w:
        w.tools = Toolbox.of(SendMail(SPEC))
        await w.restart()
        got = await w.send(attachments=(NOTES,))
        await w.decide(await w.request(), "approve")
        assert await w.ended(got.run) == "done"
        [taken] = w.relay.taken
        assert [(file.name, file.data) for file in taken.mail.attachments] == [
            ("notes.txt", b"The meeting moved to Friday.\n")
        ]


async def test_a_file_that_is_not_of_the_thread_is_refused(tmp_path: Path) -> None:
    from agents.toolbox import Toolbox
    from agents.tools.send_mail import SPEC, SendMail

    async with world(tmp_path, [say("", want("send_mail", **MAIL, attachments=["ref-other"])), say("Done.")]) as w:
        w.tools = Toolbox.of(SendMail(SPEC))
        await w.restart()
        got = await w.send()
        await w.ended(got.run)
        assert w.calls(got.run)[0]["result"] == "There is no attached file ref-other."


async def test_a_second_agent_that_was_written_to_has_a_run_of_its_own(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        letter = w.letter()
        one = await w.db.write(lambda tx: w.runtime.receive(tx, letter))
        two = await w.send(agent="other")
        assert one.run != two.run
        await w.ended(one.run)
        await w.ended(two.run)
        assert len(w.mails(Kind.RESULT)) == 2


async def test_letters_that_a_stopped_run_never_read_start_nothing(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a")), say("Done.")]) as w:
        got = await w.send("first")
        await w.request()
        await w.send("second")
        await w.word("stop")
        assert await w.ended(got.run) == "cancelled"
        assert len(w.rows("SELECT 1 FROM runs")) == 1
        again = await w.word("retry")
        assert again.outcome == "started"
        texts = w.rows("SELECT body FROM steps WHERE run = ? AND kind = 'user'", again.run)
        assert "second" in texts[0]["body"]


async def test_a_deleted_thread_leaves_keys_and_the_trail_only(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("fire", what="a secret")), say("Done.")]) as w:
        letter = w.letter("a secret")
        await w.db.write(lambda tx: w.runtime.receive(tx, letter))
        request = await w.request()
        await w.send(thread="thread-2")
        await w.request(1)
        await w.db.write(lambda tx: w.runtime.forget_thread(tx, 1, "thread-1"))
        for table in ("runs", "requests", "outbox"):
            assert w.rows(f"SELECT thread FROM {table} WHERE thread = 'thread-1'") == []
        assert [row["body"] for row in w.rows("SELECT body FROM letters WHERE key = ?", letter.key)] == ["{}"]
        again = await w.db.write(lambda tx: w.runtime.receive(tx, letter))
        assert again.outcome == "duplicate"
        assert (await w.decide(request.id, "approve")).outcome == "refused"
        assert w.effects.seen == []
        await w.decide(await w.request(), "approve")
        await w.until(lambda: w.effects.seen or None)
        trail = w.db.read(lambda tx: w.runtime.trail(tx, 1))
        assert "thread.forgotten" in [entry.what for entry in trail]
        assert w.db.read(lambda tx: w.runtime.run_counts(tx, 2)) == {}


async def test_a_thread_that_is_deleted_while_its_run_is_in_hand(tmp_path: Path) -> None:
    import asyncio

    async with world(tmp_path, [say("", want("look", what="a")), say("Done.")]) as w:
        w.effects.hold["look"] = asyncio.Event()
        await w.send()
        await w.until(lambda: w.effects.seen or None)
        await w.db.write(lambda tx: w.runtime.forget_thread(tx, 1, "thread-1"))
        await w.runtime.idle()
        assert w.rows("SELECT 1 FROM runs") == []
        again = await w.send(thread="thread-2")
        w.effects.hold["look"].set()
        assert await w.ended(again.run) == "done"
