"""What a server's answer becomes: text for the model, files for the user.

The rule: everything in it was written by others; unless the server is trusted it marks the run, errors too.
"""

import base64
import binascii
import json
import mimetypes
from collections.abc import Sequence
from typing import Any, Final

import mcp_types as types

from agents.letter import File
from agents.mcp.file import ServerConfig
from agents.prompt import size_text
from agents.tool import ToolFailed, ToolResult

LATE: Final = "[The user did answer the server's question, but the server had given up waiting by then.]"


def to_result(
    config: ServerConfig, tool: str, answer: types.CallToolResult, missing: Sequence[str], late: bool = False
) -> ToolResult:
    """The answer as a result; `missing` are questions of the server that were declined, `late` says that the user's
    answer found nobody. Raises ToolFailed for an answer that says it is an error.
    """
    files: list[File] = []
    parts = [_part(f"{config.name}-{tool}", block, files) for block in answer.content]
    if not any(part.strip() for part in parts) and answer.structured_content is not None:
        parts = [json.dumps(answer.structured_content, ensure_ascii=False, indent=1)]
    text = config.veil("\n".join([*parts, *declined(missing), *([LATE] if late else [])])).strip()
    source = f"{tool} of the MCP server {config.name}"
    if answer.is_error:
        raise ToolFailed(text or "The tool failed and gave no reason.", not config.trusted, source)
    return ToolResult(text or "(The tool gave an empty answer.)", not config.trusted, source, tuple(files))


def declined(missing: Sequence[str]) -> list[str]:
    """How the model learns that the server wanted to ask the user."""
    return [
        f"[The server wanted to ask the user: {question!r}. It did not say in which of its calls, so Postroom "
        "declined. Ask the user with ask_user, and call again with the answer if the tool takes it as an argument.]"
        for question in missing
    ]


def _part(stem: str, block: types.ContentBlock, files: list[File]) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent() | types.AudioContent():
            return _file(stem, block.mime_type, block.data, files)
        case types.ResourceLink():
            return f"[link: {block.name}, {block.uri}]"
        case types.EmbeddedResource(resource=types.TextResourceContents() as resource):
            return f"[{resource.uri}]\n{resource.text}"
        case types.EmbeddedResource(resource=types.BlobResourceContents() as resource):
            return _file(stem, resource.mime_type or "application/octet-stream", resource.blob, files)
    return f"[a part of the kind {getattr(block, 'type', 'unknown')}, which cannot be shown]"


def _file(stem: str, media_type: str, data: str, files: list[File]) -> str:
    """Keep a file for the user's mail; the model reads that it is there."""
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"[a file of type {media_type} that cannot be decoded]"
    name = f"{stem}-{len(files) + 1}{mimetypes.guess_extension(media_type) or '.bin'}"
    files.append(File(name, media_type, content))
    return f"[{name}, {media_type}, {size_text(len(content))}: attached to the mail that answers the user]"


def spec_fields(tool: types.Tool) -> dict[str, Any]:
    """What of a tool's definition is pinned: description, schema and annotations (with its title)."""
    hints = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}
    if tool.title:
        hints["title"] = tool.title
    return {"description": tool.description or "", "schema": tool.input_schema, "annotations": hints}
