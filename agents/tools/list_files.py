"""`list_files`: what is in a granted folder. Names are text of others unless the folder counts as the owner's own."""

import asyncio

from agents.folders import grants, walk
from agents.folders.rules import NotGranted
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import Database, ReadTx
from agents.profile import Profile
from agents.prompt import size_text
from agents.tool import BaseTool, Tool, ToolCall, ToolContext, ToolFailed, ToolResult
from agents.tools import _files

SPEC = ToolSpec(
    "list_files",
    "List a folder the user has granted, or a folder in it. Without a path: the granted folders. Hidden files are left "
    "out.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "maxLength": 1000, "description": 'Such as "notes" or "notes/2026".'},
        },
        "additionalProperties": False,
    },
)


class ListFiles(BaseTool):
    """Looks only; offered to an agent with a granted folder."""

    def __init__(self, db: Database) -> None:
        super().__init__(SPEC)
        self._db = db

    def wanted(self, tx: ReadTx, account: int, profile: Profile) -> bool:
        return _files.granted(tx, account, profile)

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        path = call.args.get("path", "")
        if not path:
            return ToolResult(_files.known(self._db.read(lambda tx: grants.open_to(tx, ctx.account, ctx.agent))))
        where = _files.place(self._db, ctx, path)
        try:
            found = await asyncio.to_thread(walk.listing, where.folder.path, where.names)
        except NotGranted as no:
            raise ToolFailed(f"Not listed: {no.why}.", not where.folder.own, f"folder {where.folder.name}") from None
        lines = [
            f"- {entry.name}/" if entry.size is None else f"- {entry.name} ({size_text(entry.size)})"
            for entry in found.entries
        ]
        lines += [f"({found.more} more are not listed)"] if found.more else []
        text = "\n".join([f"{path.rstrip('/')} holds:", *lines]) if lines else "The folder holds nothing for agents."
        return ToolResult(text, untrusted=not where.folder.own, source=f"folder {where.folder.name}")


def make(offer: Offer) -> Tool | None:
    return ListFiles(offer.db) if offer.db is not None else None
