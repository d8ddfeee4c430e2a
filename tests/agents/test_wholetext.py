"""Halves of characters, as models send them when an emoji is cut: they are mended, and no step is lost."""

import json
from pathlib import Path

import pytest

from agents import schema
from agents.llm import WantedCall
from agents.wholetext import DEEPEST, mended, mended_tree
from tests.agents.kit import world
from tests.agents.script import say, want


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        ("plain, ü and 😀", "plain, ü and 😀"),
        ("cut \ud83d", "cut \ufffd"),
        ("\ude00 the other half", "\ufffd the other half"),
        ("joined \ud83d\ude00", "joined 😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("nul \x00 stays", "nul \x00 stays"),
        ("", ""),
    ],
)
def test_halves_are_joined_or_replaced(given: str, whole: str) -> None:
    assert mended(given) == whole
    assert mended_tree({given: [given, 1, None, {"x": given}]}) == {whole: [whole, 1, None, {"x": whole}]}


def test_the_arguments_of_a_call_are_mended_where_they_are_read() -> None:
    assert schema.read_object(r'{"name": "\ud800.txt", "more": ["\ud83d\ude00", "\udc00"]}') == {
        "name": "\ufffd.txt",
        "more": ["😀", "\ufffd"],
    }


@pytest.mark.parametrize(("opened", "closed"), [('{"a":', "}"), ('{"a":[', "]}")])
@pytest.mark.parametrize("times", [600, 100_000])
def test_arguments_that_are_nested_too_deeply_are_refused_in_words(opened: str, closed: str, times: int) -> None:
    with pytest.raises(schema.Unreadable, match="nested too deeply"):
        schema.read_object(opened * times + "1" + closed * times)


def test_how_deep_arguments_may_be_does_not_depend_on_who_reads_them() -> None:
    raw = '{"a":' * DEEPEST + "1" + "}" * DEEPEST
    assert schema.read_object(raw) == json.loads(raw)
    with pytest.raises(schema.Unreadable, match="nested too deeply"):
        schema.read_object(f'{{"a":{raw}}}')


async def test_a_call_nested_too_deeply_is_told_to_the_model_and_ends_no_run(tmp_path: Path) -> None:
    deep = WantedCall("deep", "look", '{"what":' * 600 + "1" + "}" * 600)
    async with world(tmp_path, [say("", deep), say("Done.")]) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        assert [row["state"] for row in w.rows("SELECT state FROM tool_calls")] == ["invalid"]


async def test_a_reply_with_halves_is_a_reply_like_any_other(tmp_path: Path) -> None:
    turns = [
        say("first \ud83d", want("look", what="half \ud83d")),
        say("", want("lo\ud800ok", what="x")),
        say("Done \ud83d\ude00 \udc00."),
    ]
    async with world(tmp_path, turns) as w:
        got = await w.send()
        assert await w.ended(got.run) == "done"
        [mail] = w.mails()
        assert mail.body == "Done 😀 \ufffd."
        rows = w.rows("SELECT tool, args, state FROM tool_calls ORDER BY rowid")
        assert [row["state"] for row in rows] == ["done", "invalid"]
        assert "half \ufffd" in rows[0]["args"]
