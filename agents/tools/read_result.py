"""`read_result`: more of a result that was cut, by place or by word. What it shows is as untrusted as the result
was.
"""

from agents import journal, store
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import WriteTx
from agents.tool import Args, BaseTool, Plan, Tool, ToolCall, ToolContext, ToolFailed, ToolResult, Within

PAGE = 16_000
MAX_LINES = 200

SPEC = ToolSpec(
    "read_result",
    "Read more of a tool result that was cut. Give offset (in characters) to read on, or grep to see the lines with "
    "a word.",
    {
        "type": "object",
        "properties": {
            "ref": {
                "type": "string",
                "minLength": 1,
                "maxLength": 100,
                "description": "The ref named where it was cut.",
            },
            "offset": {"type": "integer", "minimum": 0, "description": "Where to begin; 0 if not given."},
            "grep": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "Show only lines with this text.",
            },
        },
        "required": ["ref"],
        "additionalProperties": False,
    },
)


class ReadResult(BaseTool):
    """Reads the journal, so it acts inside a transaction; only results of the same account and thread are found."""

    def plan(self, args: Args) -> Plan:
        return Within()

    def apply(self, tx: WriteTx, call: ToolCall, ctx: ToolContext) -> ToolResult:
        earlier = _find(tx, call.args["ref"], ctx)
        text = (journal.kept(tx, earlier.whole) if earlier.whole else b"").decode("utf-8", "replace")
        word = call.args.get("grep")
        shown = grep(text, word) if word else page(text, call.args.get("offset", 0))
        return ToolResult(shown, earlier.untrusted, earlier.source)


def _find(tx: WriteTx, ref: str, ctx: ToolContext) -> store.Call:
    try:
        earlier = store.get_call(tx, ref)
        run = store.get_run(tx, earlier.run)
    except KeyError:
        raise ToolFailed(f'ref: there is no result "{ref}"') from None
    if (run.account, run.thread) != (ctx.account, ctx.thread) or earlier.whole is None:
        raise ToolFailed(f'ref: there is no result "{ref}" that was cut')
    return earlier


def page(text: str, offset: int) -> str:
    """The part of a text from `offset`, with a line that says what follows."""
    part = text[offset : offset + PAGE]
    rest = len(text) - offset - len(part)
    if not part:
        return f"[There is nothing at {offset}; the text has {len(text)} characters.]"
    return part if rest <= 0 else f"{part}\n[{rest} more characters; read on with offset {offset + len(part)}]"


def grep(text: str, word: str) -> str:
    """Numbered lines that hold a word in any case, at most MAX_LINES."""
    hits = [
        f"{number}: {line}" for number, line in enumerate(text.splitlines(), 1) if word.casefold() in line.casefold()
    ]
    if not hits:
        return f'[No line holds "{word}".]'
    more = f"\n[{len(hits) - MAX_LINES} more lines]" if len(hits) > MAX_LINES else ""
    return "\n".join(hits[:MAX_LINES])[:PAGE] + more


def make(offer: Offer) -> Tool:
    return ReadResult(SPEC)
