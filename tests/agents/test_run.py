"""A run from letter to mail: what starts it, what ends it, and that each happens once."""

from pathlib import Path

from agents.ids import message_id
from agents.letter import Kind
from tests.agents.kit import world
from tests.agents.script import say, want


async def test_a_letter_becomes_a_run_and_one_result(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done: all is well.")]) as w:
        got = await w.send()
        assert got.outcome == "started"
        assert await w.ended(got.run) == "done"
        [mail] = w.mails()
        assert mail.kind is Kind.RESULT
        assert mail.body == "Done: all is well."
        assert mail.subject == "Re: A task"
        assert mail.in_reply_to == "<1@client>"
        assert mail.message_id == message_id(f"{got.run}.end", "postroom.internal")
        assert mail.footer is not None
        assert (mail.footer.model, mail.footer.model_calls, mail.footer.tokens) == ("scripted", 1, 120)


async def test_the_same_letter_twice_is_one_run(tmp_path: Path) -> None:
    async with world(tmp_path, [say("Done.")]) as w:
        letter = w.letter()
        first = await w.db.write(lambda tx: w.runtime.receive(tx, letter))
        again = await w.db.write(lambda tx: w.runtime.receive(tx, letter))
        assert (again.run, again.outcome) == (first.run, "duplicate")
        await w.ended(first.run)
        assert len(w.rows("SELECT 1 FROM runs")) == 1


async def test_a_tool_runs_and_its_result_goes_back(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a")), say("Done: looked.")]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["look:a"]
        [mail] = w.mails()
        assert mail.footer is not None
        assert [(tool.name, tool.runs) for tool in mail.footer.tools] == [("look", 1)]


async def test_activity_shows_the_run_as_it_ended(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a")), say("Done: looked.")]) as w:
        got = await w.send()
        await w.ended(got.run)
        [activity] = w.mails(Kind.ACTIVITY)
        assert activity.activity is not None
        assert activity.activity.state == "done"
        assert activity.subject.startswith("[done] Assistant: A task")
        assert not activity.unread
        assert [file.name for file in activity.files] == ["transcript.md"]
        assert "look gave a" in activity.files[0].data.decode()
