"""`write_file`: put a file into a folder that was granted for writing, after the user's approval.

The rule: a file that is there is replaced only when the request said so; what a marked run writes stays marked. The
bytes are put in place whole, so a repeat after a crash gives the same file.
"""

import asyncio
import hashlib

from agents.folders import grants, walk
from agents.folders.rules import NotGranted
from agents.letter import Field
from agents.llm import ToolSpec
from agents.offer import Offer
from agents.ports import Database, MailNotFound, ReadTx
from agents.profile import Profile
from agents.tool import Args, BaseTool, Described, Plan, Risk, Tool, ToolCall, ToolContext, ToolFailed, ToolResult
from agents.tools import _files

MAX_TEXT = 1_000_000
SPEC = ToolSpec(
    "write_file",
    "Write a file into a folder granted for writing: a text, or an attached file of this task unchanged. It waits for "
    "the user's approval.",
    {
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "title": "File",
                "minLength": 3,
                "maxLength": 1000,
                "description": 'Such as "notes/plan.md".',
            },
            "text": {"type": "string", "maxLength": MAX_TEXT, "description": "The whole text of the file."},
            "attachment": {
                "type": "string",
                "minLength": 1,
                "maxLength": 200,
                "description": "Ref of an attached file.",
            },
            "replace": {"type": "boolean", "description": "true: the file is there and is replaced."},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


class WriteFile(BaseTool):
    """A repeat writes the same bytes to the same place."""

    risk = Risk.WRITE_USER
    idempotent = True

    def __init__(self, db: Database) -> None:
        super().__init__(SPEC)
        self._db = db

    def wanted(self, tx: ReadTx, account: int, profile: Profile) -> bool:
        return _files.granted(tx, account, profile, writes=True)

    def plan(self, args: Args) -> Plan:
        if len(_files.read_path(args["path"])) == 1:
            raise ToolFailed("path: names a folder and no file in it")
        if ("text" in args) == ("attachment" in args):
            raise ToolFailed("give either text or attachment")
        return super().plan(args)

    def describe(self, args: Args) -> Described:
        what = Field("Text", args["text"]) if "text" in args else Field("Attachment", args.get("attachment", ""))
        replaces = "yes" if args.get("replace") else "no"
        note = "the file that is there is lost" if args.get("replace") else "nothing is overwritten"
        fields = (Field("File", args["path"]), Field("Replace", replaces, note), what)
        return Described("Write a file", fields, f"Write the file {args['path']}")

    async def run(self, call: ToolCall, ctx: ToolContext) -> ToolResult:
        where = _files.place(self._db, ctx, call.args["path"])
        if not where.folder.writes:
            raise ToolFailed(f"Not written: {where.folder.name} is granted for reading only.")
        data = await self._bytes(call.args, ctx)
        if ctx.tainted or "attachment" in call.args:
            sha = hashlib.sha256(data).hexdigest()
            await self._db.write(lambda tx: grants.mark_foreign(tx, ctx.account, sha))
        replace, root = bool(call.args.get("replace")), where.folder.path
        try:
            await asyncio.to_thread(walk.write, root, where.names, data, replace=replace, mark=call.idem_key)
        except NotGranted as no:
            raise ToolFailed(f"Not written: {no.why}.") from None
        return ToolResult(f"Written: {call.args['path']}, {len(data):,} bytes.")

    async def _bytes(self, args: Args, ctx: ToolContext) -> bytes:
        if "text" in args:
            return str(args["text"]).encode("utf-8", "replace")
        wanted = next((one for one in ctx.attachments if args["attachment"] in (one.ref, one.name)), None)
        if wanted is None:
            raise ToolFailed(f'attachment: there is no attached file "{args["attachment"]}"')
        try:
            return (await ctx.mail.attachment(ctx.account, wanted.ref)).data
        except MailNotFound:
            raise ToolFailed(f"attachment: {wanted.name} is not there any more") from None


def make(offer: Offer) -> Tool | None:
    return WriteFile(offer.db) if offer.db is not None else None
