"""A run's journal: appending steps, ending calls, keeping large results whole.

The rule: a step is never changed, and a call gets exactly one result, in the transaction that ends it. What is
shortened for the model is kept whole under its hash.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.codec import dump, load
from agents.letter import File, Letter
from agents.office import Office
from agents.ports import ReadTx, WriteTx
from agents.states import CallState, StepKind
from agents.store import Call, Run
from agents.tool import ToolResult


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file whose bytes are kept under their hash."""

    name: str
    media_type: str
    sha: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended: the text its model gets, and what else is known of it."""

    state: CallState
    text: str
    note: str = ""
    untrusted: bool = False
    source: str = ""
    files: tuple[File, ...] = ()
    whole: str | None = None


def append(tx: WriteTx, office: Office, run: str, kind: StepKind, body: Mapping[str, Any]) -> int:
    """Add one step; returns its number."""
    seq: int = tx.value("agents.steps.next", run=run)
    tx.run("agents.steps.add", run=run, seq=seq, kind=kind, body=json.dumps(body, ensure_ascii=False), now=office.now())
    return seq


def append_letter(tx: WriteTx, office: Office, run: str, letter: Letter, told: str = "") -> None:
    """Add what a user said; `told` is the program's own remark about it."""
    append(tx, office, run, StepKind.USER, {"letter": json.loads(dump(letter)), "told": told})


def letter_of(body: Mapping[str, Any]) -> Letter:
    """The letter of a `user` step."""
    return load(Letter, json.dumps(body["letter"], ensure_ascii=False))


def letters_of(tx: ReadTx, run: str) -> tuple[Letter, ...]:
    """Everything users said in a run, oldest first."""
    return tuple(letter_of(json.loads(row["body"])) for row in tx.all("agents.steps.users", run=run))


def keep(tx: WriteTx, data: bytes) -> str:
    """Keep bytes under their hash; returns it."""
    sha = hashlib.sha256(data).hexdigest()
    tx.run("agents.blobs.put", sha=sha, size=len(data), data=data)
    return sha


def kept(tx: ReadTx, sha: str) -> bytes:
    """Bytes by their hash; KeyError when they are gone."""
    data = tx.value("agents.blobs.get", sha=sha)
    if data is None:
        raise KeyError(sha)
    return bytes(data)


def store_files(tx: WriteTx, files: tuple[File, ...]) -> list[dict[str, str]]:
    return [{"name": one.name, "media_type": one.media_type, "sha": keep(tx, one.data)} for one in files]


def load_files(tx: ReadTx, entries: list[dict[str, str]]) -> tuple[File, ...]:
    return tuple(File(one["name"], one["media_type"], kept(tx, one["sha"])) for one in entries)


def end_call(tx: WriteTx, office: Office, call: Call, ending: Ending) -> bool:
    """End a call, if it is still as it was read. False: somebody else has ended it meanwhile, and this ending counts
    for nothing.
    """
    changed = tx.run(
        "agents.calls.end",
        call=call.id,
        was=call.state,
        state=ending.state,
        result=ending.text,
        result_hash=hashlib.sha256(ending.text.encode("utf-8", "surrogatepass")).hexdigest(),
        whole=ending.whole,
        ok=int(ending.state is CallState.DONE),
        note=ending.note,
        untrusted=int(ending.untrusted),
        source=ending.source,
        files=json.dumps(store_files(tx, ending.files)),
        now=office.now(),
    )
    if changed and ending.untrusted:
        mark(tx, office, call.run, ending.source or call.tool)
    return bool(changed)


def mark(tx: WriteTx, office: Office, run: str, source: str) -> None:
    """A run has read text that nobody here vouches for."""
    tx.run("agents.runs.taint", run=run)
    tx.run("agents.runs.taints_add", run=run, source=source, now=office.now())


def mark_from(tx: WriteTx, office: Office, run: str, other: Run) -> None:
    """A run takes over what another has read."""
    if other.taint:
        for row in tx.all("agents.runs.taints", run=other.id):
            mark(tx, office, run, row["source"])
        tx.run("agents.runs.taint", run=run)


def done(tx: WriteTx, office: Office, run: Run, call: Call, result: ToolResult) -> Ending:
    """A tool's result as an ending: a large text is shortened for the model and kept whole, up to the limit of a kept
    file.
    """
    limits = office.limits(run.agent)
    data = result.text.encode("utf-8", "replace")
    if len(data) > limits.result_file_bytes:
        text = f"The result has {len(data):,} bytes; more than {limits.result_file_bytes:,} are not kept. Ask for less."
        return Ending(CallState.FAILED, text, untrusted=result.untrusted, source=result.source)
    text, whole = result.text, None
    if len(data) > limits.result_bytes:
        whole = keep(tx, data)
        text = shorten(result.text, limits.result_bytes, call.id)
    return Ending(CallState.DONE, text, "", result.untrusted, result.source, result.files, whole)


def shorten(text: str, limit: int, ref: str) -> str:
    """Head and tail of a text, about `limit` bytes together, with the way to the rest between them."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    head = data[: limit * 3 // 4].decode("utf-8", "ignore")
    tail = data[len(data) - limit // 4 :].decode("utf-8", "ignore")
    left_out = len(data) - len(head.encode()) - len(tail.encode())
    return f'{head}\n[... {left_out:,} bytes left out; read_result with ref "{ref}" shows them ...]\n{tail}'
