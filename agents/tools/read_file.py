"""`read_file`: the text of a file in a granted folder, of every kind that attachments are read in.

The rule: its text marks the run, unless the folder was granted as the owner's own and the file was not written there
by a run that had read text of others.
"""

import asyncio
import hashlib

from agents.extract import Unreadable, extract
from agents.folders import grants, walk
from agents.folders.grants import Folder
from agents.folders.rules import NotGranted
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import Database, ReadTx
from agents.profile import Profile
from agents.tool import Args, BaseTool, Plan, Tool, ToolCall, ToolContext, ToolFailed, ToolResult
from agents.tools import _files

SPEC = ToolSpec(
    "read_file",
    "Read a file of a granted folder as text: plain text, Markdown, HTML, PDF, Word (.docx), CSV, JSON; of a .zip it "
    "lists what is in it, and reads the file named in inside.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 3, "maxLength": 1000, "description": 'Such as "notes/plan.md".'},
            "inside": {"type": "string", "minLength": 1, "maxLength": 300, "description": "A file in a .zip."},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


class ReadFile(BaseTool):
    """Offered to an agent with a granted folder."""

    def __init__(self, db: Database) -> None:
        super().__init__(SPEC)
        self._db = db

    def wanted(self, tx: ReadTx, account: int, profile: Profile) -> bool:
        return _files.granted(tx, account, profile)

    def plan(self, args: Args) -> Plan:
        if len(_files.read_path(args["path"])) == 1:
            raise ToolFailed("path: this is a folder; list_files shows what is in it")
        return super().plan(args)

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        where = _files.place(self._db, ctx, call.args["path"])
        source = f"file {call.args['path']}"
        try:
            data = await asyncio.to_thread(walk.read, where.folder.path, where.names)
            found = await extract(where.names[-1], "", data, inside=call.args.get("inside", ""))
        except NotGranted as no:
            raise ToolFailed(f"Not read: {no.why}.", not where.folder.own, source) from None
        except Unreadable as fault:
            raise ToolFailed(
                f"{call.args['path']} cannot be read: {fault.why}.", not where.folder.own, source
            ) from None
        text = f"[{found.note}]\n{found.text}" if found.note else found.text
        own = self._is_own(where.folder, data)
        return ToolResult(text or "[The file is empty.]", untrusted=not own, source=source)

    def _is_own(self, folder: Folder, data: bytes) -> bool:
        sha = hashlib.sha256(data).hexdigest()
        return folder.own and not self._db.read(lambda tx: grants.is_foreign(tx, folder.account, sha))


def make(offer: Offer) -> Tool | None:
    return ReadFile(offer.db) if offer.db is not None else None
