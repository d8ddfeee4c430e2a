"""The demo model in the real runtime: real tools, the built-in skill, approvals as rows, a relay that counts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from agents import discover, skills
from agents.letter import Attachment, Kind
from agents.models.demo import DemoModel
from agents.offer import Offer
from agents.ports import AttachmentData
from agents.toolbox import Toolbox
from tests.agents.kit import World
from tests.agents.models.test_demo_letters import GARDEN

FILE = Attachment("m1", "garden.txt", "text/plain", len(GARDEN))
ASK = "Summarise the attached notes and send the summary to lena@hill.example"


@asynccontextmanager
async def demo_world(home: Path, text: str = GARDEN, trust: bool = False) -> AsyncIterator[World]:
    world = World(home, DemoModel())
    assistant = replace(world.settings.agents["assistant"], trust_attachments=trust)
    world.settings = replace(world.settings, agents={**world.settings.agents, "assistant": assistant})
    loaded = skills.load([skills.builtin_folder()])
    world.skills = loaded.ready
    world.tools = Toolbox.of(*discover.tools(Offer(relay=True, skills=loaded.profiles)))

    async def attachment(account: int, ref: str) -> AttachmentData:
        return AttachmentData("garden.txt", "text/plain", text.encode())

    world.mail.attachment = attachment  # type: ignore[method-assign]  # the kit's mail holds no files
    await world.open()
    try:
        yield world
    finally:
        await world.close()


async def test_summarise_approve_send_report(tmp_path: Path) -> None:
    async with demo_world(tmp_path) as w:
        got = await w.send(ASK, attachments=(FILE,))
        request = await w.request()
        assert request.title == "Send mail to lena@hill.example"
        assert "garden.txt (your attachment)" in request.view.sources
        assert request.view.items[0].fields[0].value == "lena@hill.example"
        await w.decide(request, "approve")
        assert await w.ended(got.run) == "done"
        [result] = w.mails(Kind.RESULT)
        assert result.body.startswith("Done: the summary of garden.txt went to lena@hill.example.")
        assert result.footer is not None
        assert (result.footer.demo, result.footer.model) == (True, "demo (no AI)")
        ran = {tool.name: tool.runs for tool in result.footer.tools}
        assert ran == {"read_attachment": 2, "delegate": 1, "send_mail": 1}
        assert len(w.relay.taken) == 1


async def test_feedback_is_a_new_proposal(tmp_path: Path) -> None:
    async with demo_world(tmp_path) as w:
        got = await w.send(ASK, attachments=(FILE,))
        await w.decide(await w.request(), "respond", text="use her work address lena@corp.example")
        second = await w.request()
        assert second.title == "Send mail to lena@corp.example"
        await w.decide(second, "approve")
        assert await w.ended(got.run) == "done"
        assert [mail.mail.to for mail in w.relay.taken] == [("lena@corp.example",)]


async def test_a_refusal_ends_without_a_mail(tmp_path: Path) -> None:
    async with demo_world(tmp_path) as w:
        got = await w.send(ASK, attachments=(FILE,))
        await w.decide(await w.request(), "reject", text="wrong week")
        assert await w.ended(got.run) == "done"
        [result] = w.mails(Kind.RESULT)
        assert result.body.startswith("Not sent")
        assert "wrong week" in result.body
        assert w.relay.taken == []


async def test_a_question_and_its_answer(tmp_path: Path) -> None:
    async with demo_world(tmp_path) as w:
        got = await w.send("Summarise the attached notes and send the summary to Lena", attachments=(FILE,))
        question = await w.request()
        assert question.title == "Which mail address should I use for Lena?"
        await w.decide(question, "answer", text="lena@hill.example")
        await w.decide(await w.request(), "approve")
        assert await w.ended(got.run) == "done"
        assert len(w.relay.taken) == 1


async def test_a_long_file_is_read_to_its_end(tmp_path: Path) -> None:
    filler = "The weather stayed the same as before on day {}. "
    text = (
        "".join(filler.format(number) + "\n\n" for number in range(1500))
        + "The bridge of the harbour costs 77 million euro."
    )
    async with demo_world(tmp_path, text) as w:
        got = await w.send("Summarise the attached notes in 8 sentences", attachments=(FILE,))
        assert await w.ended(got.run) == "done"
        [result] = w.mails(Kind.RESULT)
        assert "77 million" in result.body


async def test_the_next_letter_of_the_thread_goes_on(tmp_path: Path) -> None:
    async with demo_world(tmp_path) as w:
        first = await w.send("Summarise the attached notes", attachments=(FILE,))
        assert await w.ended(first.run) == "done"
        w.clock.advance(seconds=60)
        second = await w.send("Now send it to otto@hill.example please")
        request = await w.request()
        assert any("14 June" in field.value for field in request.view.items[0].fields)
        await w.decide(request, "approve")
        assert await w.ended(second.run) == "done"
        assert len(w.relay.taken) == 1


async def test_a_later_letter_hands_on_a_file_of_an_earlier_one(tmp_path: Path) -> None:
    async with demo_world(tmp_path) as w:
        first = await w.send("Summarise the attached notes", attachments=(FILE,))
        assert await w.ended(first.run) == "done"
        w.clock.advance(seconds=60)
        second = await w.send("Shorter please, one sentence")
        assert await w.ended(second.run) == "done"
        result = w.mails(Kind.RESULT)[-1]
        assert result.body.startswith("Summary of garden.txt:")
        assert result.body.count("\n- ") == 1


async def test_trusted_attachments_mark_nothing(tmp_path: Path) -> None:
    async with demo_world(tmp_path, trust=True) as w:
        await w.send(ASK, attachments=(FILE,))
        assert (await w.request()).view.sources == ()


async def test_attachments_of_forwarded_text_are_foreign_whatever_the_setting(tmp_path: Path) -> None:
    async with demo_world(tmp_path, trust=True) as w:
        await w.send(ASK, attachments=(FILE,), foreign="Fwd: see the notes")
        assert "garden.txt (your attachment)" in (await w.request()).view.sources
