"""Delegation: the specialist's report is passed on, its transcript kept, its purse shared, its last answer a report."""

from pathlib import Path

from agents.letter import Kind
from agents.llm import ResultMessage
from config.settings import Limits
from tests.agents.kit import world
from tests.agents.script import ScriptedModel, Turn, say, want

DELEGATE = want("delegate", skill="summariser", task="Sum it up.")
Scripts = dict[str, list[Turn]]


async def test_the_report_is_passed_on_and_the_transcript_is_kept(tmp_path: Path) -> None:
    scripts: Scripts = {
        "Assistant": [say("", DELEGATE), lambda request: say(f"It says: {request.messages[-1].text}")],
        "Summariser": [say("", want("look", what="a")), say("Three points.")],
    }
    async with world(tmp_path, scripts) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        [result] = w.mails(Kind.RESULT)
        assert result.body == "It says: Three points."
        [call] = w.calls(got.run)
        shown = [mail for mail in w.mails(Kind.ACTIVITY) if mail.run == call["child"]]
        [transcript] = shown[-1].files
        text = transcript.data.decode()
        assert transcript.name == "transcript.md"
        assert "Sum it up." in text
        assert "### look (done)" in text
        assert "Three points." in text


async def test_the_last_answer_of_a_specialist_has_no_tools_and_says_what_is_missing(tmp_path: Path) -> None:
    """Five model calls for both: two of the specialist's go into work, the next is its report, one is left."""
    scripts: Scripts = {
        "Assistant": [say("", DELEGATE), say("Passed on.")],
        "Summariser": [say("", want("look", what="a")), say("", want("web", what="b")), say("Found a; c is missing.")],
    }
    async with world(tmp_path, scripts, limits=Limits(model_calls=5)) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert isinstance(w.model, ScriptedModel)
        asked = [one for one in w.model.requests if "You are Summariser," in one.system]
        assert [bool(one.tools) for one in asked] == [True, True, False]
        report = asked[-1]
        assert not any(isinstance(message, ResultMessage) for message in report.messages)
        told = "\n".join(message.text for message in report.messages)
        assert "(I used look with" in told
        assert "look gave a" in told
        assert '<untrusted source="source of web">' in told
        assert "say plainly what is missing" in report.messages[-1].text
        [call] = w.calls(got.run)
        assert call["result"] == "Found a; c is missing."
        assert w.mails(Kind.RESULT)[0].body == "Passed on."


async def test_a_call_made_up_in_a_report_does_not_run(tmp_path: Path) -> None:
    scripts: Scripts = {
        "Assistant": [say("", DELEGATE), say("Passed on.")],
        "Summariser": [say("", want("look", what="a")), say("Here it is.", want("look", what="b"))],
    }
    async with world(tmp_path, scripts, limits=Limits(model_calls=4)) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert w.effects.seen == ["look:a"]
        assert w.calls(got.run)[0]["result"] == "Here it is."


async def test_an_agent_that_works_for_itself_is_not_cut_short(tmp_path: Path) -> None:
    turns: list[Turn] = [say("", want("look", what="a")), say("", want("look", what="b")), say("Done.")]
    async with world(tmp_path, turns, limits=Limits(model_calls=3)) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert isinstance(w.model, ScriptedModel)
        assert all(one.tools for one in w.model.requests)


async def test_what_a_specialist_uses_is_counted_for_the_whole_task(tmp_path: Path) -> None:
    scripts: Scripts = {
        "Assistant": [say("", DELEGATE), say("Done.")],
        "Summariser": [say("", want("look", what="a")), say("Short.")],
    }
    async with world(tmp_path, scripts) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        footer = w.mails(Kind.RESULT)[0].footer
        assert footer is not None
        assert (footer.model_calls, footer.tokens) == (4, 480)
        assert {tool.name: tool.runs for tool in footer.tools} == {"delegate": 1, "look": 1}
