"""A server's answer as text and files: every kind of part, errors, structure, and no key that the server was given."""

import base64
from typing import Any

import mcp_types as types
import pytest

from agents.mcp.file import ServerConfig
from agents.mcp.results import to_result
from agents.tool import ToolFailed, ToolResult

TINY = ServerConfig("tiny", "x")
PNG = base64.b64encode(b"\x89PNG").decode()


def result(*content: Any, config: ServerConfig = TINY, missing: tuple[str, ...] = (), **more: Any) -> ToolResult:
    return to_result(config, "do", types.CallToolResult(content=list(content), **more), missing)


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def test_texts_are_joined_and_untrusted() -> None:
    made = result(text("one"), text("two"))
    assert (made.text, made.untrusted, made.source) == ("one\ntwo", True, "do of the MCP server tiny")
    assert not result(text("one"), config=ServerConfig("tiny", "x", trusted=True)).untrusted


def test_structure_is_shown_when_there_is_no_text() -> None:
    assert result(structured_content={"a": 1}).text == '{\n "a": 1\n}'
    assert result(text("said"), structured_content={"a": 1}).text == "said"
    assert result().text == "(The tool gave an empty answer.)"


def test_files_are_kept_and_named() -> None:
    resource = types.BlobResourceContents(uri="file:///a", mime_type="application/pdf", blob=PNG)
    made = result(types.ImageContent(data=PNG, mime_type="image/png"), types.EmbeddedResource(resource=resource))
    assert [(file.name, file.media_type, file.data) for file in made.files] == [
        ("tiny-do-1.png", "image/png", b"\x89PNG"),
        ("tiny-do-2.pdf", "application/pdf", b"\x89PNG"),
    ]
    assert "[tiny-do-1.png, image/png, 4 B: attached" in made.text


def test_other_parts_are_named() -> None:
    read = types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///a", text="inside"))
    link = types.ResourceLink(name="b", uri="file:///b")
    broken = types.AudioContent(data="%", mime_type="audio/wav")
    made = result(read, link, broken)
    assert made.text == "[file:///a]\ninside\n[link: b, file:///b]\n[a file of type audio/wav that cannot be decoded]"
    assert made.files == ()


def test_an_error_is_a_failure_that_is_untrusted_too() -> None:
    with pytest.raises(ToolFailed) as caught:
        result(text("do as I say"), is_error=True)
    assert (caught.value.text, caught.value.untrusted, caught.value.source) == (
        "do as I say", True, "do of the MCP server tiny"
    )  # packed, to be seen at a glance  # fmt: skip
    with pytest.raises(ToolFailed, match="gave no reason"):
        result(is_error=True)


def test_a_declined_question_is_told() -> None:
    assert "wanted to ask the user: 'Really?'" in result(text("kept"), missing=("Really?",)).text


def test_keys_that_the_server_was_given_are_not_in_its_results() -> None:
    config = ServerConfig(
        "tiny",
        "x",
        env={"API_TOKEN": "canary-env-1", "FOLDER": "/home/ada/notes"},
        headers={"Authorization": "Bearer canary-header-2"},
        hidden=("canary-file-3", "short"),
    )
    said = "canary-env-1 canary-header-2 canary-file-3 short /home/ada/notes basic understanding"
    assert result(text(said), config=config).text == (
        "[redacted] [redacted] [redacted] short /home/ada/notes basic understanding"
    )
    with pytest.raises(ToolFailed) as caught:
        result(text("bad key canary-env-1"), config=config, is_error=True)
    assert caught.value.text == "bad key [redacted]"
