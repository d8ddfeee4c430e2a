"""`attach_file`: a file for the user, attached to the mail that this task ends with."""

import mimetypes
import re

from agents.letter import Field, File
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import WriteTx
from agents.tool import (
    Args,
    BaseTool,
    Described,
    Plan,
    Risk,
    Tool,
    ToolCall,
    ToolContext,
    ToolFailed,
    ToolResult,
    Within,
)

MAX_TEXT = 5_000_000
_NAME = re.compile(r"[^/\\\x00-\x1f\x7f]{1,120}")
"""Printable too: what turns the direction of writing makes "gpj.exe" of "exe.jpg"."""
_TEXT_TYPES = ("text/", "application/json", "application/xml")

SPEC = ToolSpec(
    "attach_file",
    "Make a text file (Markdown, CSV, JSON, HTML, calendar ...) that the user gets attached to your last message.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1, "maxLength": 120, "description": 'Such as "prices.csv".'},
            "text": {"type": "string", "maxLength": MAX_TEXT, "description": "The whole text of the file."},
        },
        "required": ["name", "text"],
        "additionalProperties": False,
    },
)


class AttachFile(BaseTool):
    """Writes to the user alone, as the last message itself does."""

    risk = Risk.WRITE_OWN

    def plan(self, args: Args) -> Plan:
        name = args["name"].strip()
        if _NAME.fullmatch(name) is None or not name.strip(" .") or not name.isprintable():
            raise ToolFailed(f'name: "{args["name"]}" is not the name of a file')
        return Within()

    def describe(self, args: Args) -> Described:
        return Described("Attach a file", (Field("Name", args["name"].strip()), Field("Text", args["text"])))

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        name = call.args["name"].strip()
        data = call.args["text"].encode("utf-8", "replace")
        file = File(name, media_type(name), data)
        return ToolResult(f"{name} ({len(data):,} bytes) goes with your last message.", files=(file,))


def media_type(name: str) -> str:
    """The type of a text file by its ending."""
    if name.lower().endswith((".md", ".markdown")):
        return "text/markdown"
    guessed = mimetypes.guess_type(name, strict=True)[0] or "text/plain"
    return guessed if guessed.startswith(_TEXT_TYPES) else "text/plain"


def make(offer: Offer) -> Tool:
    return AttachFile(SPEC)
