"""Plays a call to a real MCP server that asks within the call, with SIGKILL at every point, each in a forked process.

python -m tests.crash.asking PROTOCOL FOLDER FIRST LAST [--step N] [--twice SEED] [--fault NAME]

A child has the call approved, waits for the server's question, answers it, and goes on to the end; the next child opens
the same file, starts the server anew, and does what its user is asked. The server primes before it asks and paints when
it has its answer: neither may happen more often than the user let it.
"""

from collections import Counter
from functools import partial
from pathlib import Path

from agents import recovery, store
from agents.letter import Kind
from agents.mcp.servers import Servers
from agents.office import Office
from agents.ports import WriteTx
from agents.requests import RequestInfo
from agents.states import RequestKind
from agents.toolbox import Toolbox
from tests.agents import invariants
from tests.agents.kit import World
from tests.agents.mcp.kit import lines, small
from tests.agents.mcp.test_runtime import Fixed
from tests.agents.script import ScriptedModel, say, want
from tests.crash.kills import Faults, Killer, arguments, report
from tests.crash.stage import asked

PROTOCOLS = {"today": ("paint",), "older": ("prime", "--older")}
"""A protocol, and the tool that is called in it. Of today's protocol a call ends where it asks and is made again, so a
tool acts only when it has its answers; in the older one it may have acted before.
"""


def _always_again(tx: WriteTx, office: Office, run: store.Run, call: store.Call) -> None:
    tx.run("agents.calls.again", call=call.id)


FAULTS: Faults = {
    "calls-again": lambda: setattr(recovery, "_take_over_call", _always_again),
}
"""A fault planted to see that the sweep notices it."""


async def play(protocol: str, home: Path, killer: Killer | None) -> World:
    """Be the user until everything has ended. The world is left open; its server is not."""
    tool, *options = PROTOCOLS[protocol]
    w = World(home, ScriptedModel({"": [say("", want(f"small__{tool}")), say("Done.")]}))
    w.bound = 60.0
    w.probe = killer
    await w.open(start=False)
    servers = Fixed(w, small(home / "effects", *options))
    box = Toolbox([servers.tools])
    object.__setattr__(w.runtime._office, "toolbox", box)
    servers.load()
    await servers.start()
    await w.until(lambda: _pinned(servers))
    await w.runtime.start()
    try:
        await w.send()
        async for found in asked(w):
            for request in found:
                verdict, words = _says(request)
                await w.decide(request, verdict, text=words)
        return w
    finally:
        await servers.stop()


def _pinned(servers: Servers) -> bool | None:
    return any(pin.spec.name == "prime" for pin in servers.pins().get("small", ())) or None


def _says(request: RequestInfo) -> tuple[str, str]:
    if request.kind is RequestKind.QUESTION:
        return "answer", "red"
    return ("done", "") if request.kind is RequestKind.UNKNOWN else ("approve", "")


def check(w: World, home: Path) -> list[str]:
    """No effect happened more often than it may, and the run has its one end."""
    did = Counter(line for line in lines(home / "effects") if line != "cancelled")
    wrong = [f"{what} happened {often} times" for what, often in did.items() if often > 1]
    unknown = w.rows("SELECT count(*) AS n FROM requests WHERE kind = 'unknown'")[0]["n"]
    if not unknown and "paint red" not in did:
        wrong.append(f"nobody was asked, and what happened is {dict(did)}")
    if w.rows("SELECT state FROM runs") != [{"state": "done"}]:
        wrong.append(f"runs: {w.rows('SELECT state, outcome FROM runs')}")
    if len(w.mails(Kind.RESULT)) != 1:
        wrong.append("not exactly one last mail")
    return wrong + invariants.broken(w, ended=True)


async def part(protocol: str, home: Path, killer: Killer | None) -> list[str]:
    w = await play(protocol, home, killer)
    wrong = check(w, home)
    await w.close()
    return wrong


def main() -> None:
    given = arguments(FAULTS, PROTOCOLS).parse_args()
    report(given, partial(part, given.scenario), FAULTS, within=20)


if __name__ == "__main__":
    main()
