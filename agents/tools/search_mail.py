"""`search_mail`: find mail of the user's own mailboxes. What it finds is foreign and marks the run.

The rule: the mail that asks for a search holds the words that are looked for; it is never among the hits.
"""

from agents.llm import ToolSpec
from agents.offer import Offer
from agents.tool import BaseTool, Tool, ToolCall, ToolContext, ToolResult
from agents.tools._mail import summary_line

OWN_MARGIN = 20
"""Mails looked at beyond the limit, since the user's own of this thread are left out."""

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
        limit = call.args.get("limit", 10)
        found = await ctx.mail.search(ctx.account, query, limit + OWN_MARGIN)
        hits = [hit for hit in found if hit.mailbox != "Sent" or not hit.thread or hit.thread != ctx.thread][:limit]
        if not hits:
            return ToolResult(f"No mail found for: {query}" if query else "There is no mail.")
        head = f"{len(hits)} {'mail' if len(hits) == 1 else 'mails'} found, newest first:"
        text = "\n".join([head, *map(summary_line, hits)])
        return ToolResult(text, untrusted=True, source=f"search in your mail ({query or 'newest'})")


def make(offer: Offer) -> Tool:
    return SearchMail(SPEC)
