"""A run that ends at its model says what to do about it: one sentence for each kind of failure."""

from pathlib import Path

import pytest

from agents import advice
from agents.letter import Kind
from agents.llm import ModelError, ModelFault
from tests.agents.kit import world
from tests.agents.script import say, want


@pytest.mark.parametrize(
    ("kind", "head", "todo"),
    [
        (ModelFault.AUTH, "refused the key (401)", 'put a valid key for the model "demo"'),
        (ModelFault.QUOTA, "quota is used up (401)", "add credit at the provider"),
        (ModelFault.REFUSED, "refused the request (401)", "its words above say why"),
        (ModelFault.GONE, "does not know this model (401)", "correct [models.demo]"),
    ],
)
async def test_a_failure_names_its_cause_and_its_cure(tmp_path: Path, kind: ModelFault, head: str, todo: str) -> None:
    async with world(tmp_path, [ModelError(kind, "401")]) as w:
        sent = await w.send()
        assert await w.ended(sent.run) == "failed"
        [mail] = w.mails(Kind.FAILURE)
        first, said, last = mail.body.split("\n\n")
        assert first.startswith("Not done: the model provider")
        assert head in first
        assert said == "Nothing was sent and nothing was changed."
        assert last.startswith("What to do: ")
        assert todo in last
        assert '"retry"' in last


async def test_a_task_too_long_for_its_model_says_so(tmp_path: Path) -> None:
    async with world(tmp_path, [ModelError(ModelFault.CONTEXT, "8192 tokens")]) as w:
        sent = await w.send()
        assert await w.ended(sent.run) == "failed"
        [mail] = w.mails(Kind.FAILURE)
        assert "the task is too long for this model" in mail.body
        assert "ask for a smaller part of it" in mail.body
        assert "`assistant+TAG@`" in mail.body


@pytest.mark.parametrize("kind", list(ModelFault))
def test_every_kind_has_its_own_advice(kind: ModelFault) -> None:
    text = advice.of_fault(kind, "haiku", "assistant")
    assert text.startswith("What to do: ")
    assert text.endswith(".")
    assert '"retry"' in text
    assert "{" not in text
    assert len({advice.of_fault(one, "haiku", "assistant") for one in ModelFault}) == len(ModelFault)


async def test_a_run_that_the_model_did_not_end_has_the_usual_words(tmp_path: Path) -> None:
    async with world(tmp_path, [say("", want("look", what="a"))]) as w:
        sent = await w.send()
        assert await w.ended(sent.run) == "stuck"
        [mail] = w.mails(Kind.FAILURE)
        assert "What to do" not in mail.body
        assert 'Answer this mail with "retry" to try it again, or with other words.' in mail.body


async def test_retry_begins_again_after_the_cause_was_put_right(tmp_path: Path) -> None:
    async with world(tmp_path, [ModelError(ModelFault.AUTH, "401")]) as w:
        first = await w.send()
        assert await w.ended(first.run) == "failed"
        w.model._scripts = {"": [say("Done after all.")]}  # type: ignore[attr-defined]  # the key is right now
        word = await w.word("retry")
        assert word.outcome == "started"
        assert await w.ended(word.run) == "done"
