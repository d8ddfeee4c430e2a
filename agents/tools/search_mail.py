"""`search_mail`: find mail of the user's own mailboxes. What it finds is foreign and marks the run."""

from agents.llm import ToolSpec
from agents.offer import Offer
from agents.tool import BaseTool, Tool, ToolCall, ToolContext, ToolResult
from agents.tools._mail import summary_line

SPEC = ToolSpec(
    "search_mail",
    "Search the user's mail. Words must all occur (any case, also inside words). Narrow with from:NAME, to:NAME, "
    'subject:WORD, "a phrase", in:MAILBOX, is:unread, is:open (waits for a decision), has:attachment, '
    "after:YYYY-MM-DD, before:YYYY-MM-DD. An empty query gives the newest mail. Newest first; each hit has a ref for "
    "read_mail.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "maxLength": 500, "description": "What to look for; may be empty."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 50,
                "description": "Most hits to return; 10 if not given.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)


class SearchMail(BaseTool):
    """Searches through the Mail port, bound to the run's account."""

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        query = call.args["query"].strip()
        hits = await ctx.mail.search(ctx.account, query, call.args.get("limit", 10))
        if not hits:
            return ToolResult(f"No mail found for: {query}" if query else "There is no mail.")
        head = f"{len(hits)} {'mail' if len(hits) == 1 else 'mails'} found, newest first:"
        text = "\n".join([head, *map(summary_line, hits)])
        return ToolResult(text, untrusted=True, source=f"search in your mail ({query or 'newest'})")


def make(offer: Offer) -> Tool:
    return SearchMail(SPEC)
