"""A small MCP server over stdio that asks its user within a call, in the protocol of today or in the one before it.

    python -m tests.fakes.small_mcp LOG [--older]

It is written by hand and imports no SDK, so that hundreds of them can be started, and so that what is tested is what
is on the wire. LOG gets a line for every start and every effect. Of today's protocol a call that asks ends, and is made
again with the answer and a state that only this process knows; in the older one the call stays open meanwhile.
"""

import argparse
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

Json = dict[str, Any]

TODAY: Final = "2026-07-28"
OLDER: Final = "2025-06-18"
COLOUR: Final[Json] = {
    "message": "Which colour?",
    "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]},
}
SHAPE: Final[Json] = {
    "message": "Which shape?",
    "requestedSchema": {"type": "object", "properties": {"shape": {"type": "string"}}, "required": ["shape"]},
}
TOOLS: Final = {
    "paint": "Asks for a colour, then paints.",
    "prime": "Primes, asks for a colour, then paints.",
    "draw": "Asks for a colour, then for a shape, then draws.",
    "hasty": "Asks for a colour, gives up at once, and says so.",
    "add": "Adds nothing.",
}
READS: Final = frozenset({"add", "draw"})
GIVEN_UP: Final = "nobody answered in time"


class Declined(Exception):
    """The user would not say."""


class Call:
    """One call under way."""

    def __init__(self, server: "Server", ident: Any, params: Json) -> None:
        self.server = server
        self.ident = ident
        self.params = params

    def ask(self, name: str, form: Json) -> str:
        """The user's answer to a question. Of today's protocol raises Again until it is there."""
        answer = self.server.asked(self, name, form)
        if answer["action"] != "accept":
            raise Declined(answer["action"])
        return str(next(iter(answer["content"].values())))


class Again(Exception):
    """The call ends here, and is made again with the answer."""

    def __init__(self, name: str, form: Json) -> None:
        super().__init__(name)
        self.name = name
        self.form = form


class Server:
    def __init__(self, log: Path, older: bool) -> None:
        self._log = log
        self._older = older
        self._lock = threading.Lock()
        self._state = os.urandom(8).hex()
        self._answers: dict[str, queue.SimpleQueue[Json]] = {}
        self._asked = 0

    def note(self, what: str) -> None:
        with self._log.open("a") as file:
            file.write(what + "\n")

    def send(self, message: Json) -> None:
        with self._lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            sys.stdout.flush()

    def run(self) -> None:
        self.note(f"start {os.getpid()}")
        for line in sys.stdin:
            message = json.loads(line)
            if "method" not in message:
                self._answers[message["id"]].put(message["result"])
            elif message["method"] == "tools/call":
                threading.Thread(target=self._call, args=(message,), daemon=True).start()
            elif "id" in message:
                self._answer(message)
            elif message["method"] == "notifications/cancelled":
                self.note("cancelled")

    def _answer(self, message: Json) -> None:
        about: Json = {"capabilities": {"tools": {}}, "serverInfo": {"name": "small", "version": "1"}}
        tools = [
            {
                "name": name,
                "description": told,
                "inputSchema": {"type": "object", "properties": {}},
                "annotations": {"readOnlyHint": name in READS},
            }
            for name, told in TOOLS.items()
        ]
        results: dict[str, Json] = {"tools/list": {"tools": tools}, "ping": {}}
        if self._older:
            results["initialize"] = {"protocolVersion": OLDER, **about}
        else:
            results["tools/list"] |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            results["server/discover"] = {
                "supportedVersions": [TODAY], "resultType": "complete", "ttlMs": 0, "cacheScope": "private", **about,
            }  # packed, to be seen at a glance  # fmt: skip
        if (found := results.get(message["method"])) is not None:
            self.send({"id": message["id"], "result": found})
        else:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})

    def _call(self, message: Json) -> None:
        call = Call(self, message["id"], message["params"])
        doing: Callable[[Call], str] = getattr(self, f"_{message['params']['name']}")
        if (state := call.params.get("requestState")) is not None and state != self._state:
            self.send({"id": call.ident, "error": {"code": -32602, "message": "Invalid or expired requestState"}})
            return
        text, bad = "", False
        try:
            text = doing(call)
        except Declined as no:
            text = f"nothing painted, the answer was {no}"
        except TimeoutError:
            text, bad = GIVEN_UP, True
        except Again as more:
            request = {"method": "elicitation/create", "params": {"mode": "form", **more.form}}
            wants = {"inputRequests": {more.name: request}, "requestState": self._state}
            self.send({"id": call.ident, "result": {"resultType": "input_required", **wants}})
            return
        result: Json = {"content": [{"type": "text", "text": text}], "isError": bad}
        self.send({"id": call.ident, "result": result if self._older else {**result, "resultType": "complete"}})

    def asked(self, call: Call, name: str, form: Json) -> Json:
        """The answer to a question of a call."""
        if not self._older:
            given: Json = call.params.get("inputResponses") or {}
            if name not in given:
                raise Again(name, form)
            answer: Json = given[name]
            return answer
        self._asked += 1
        ident = f"ask-{self._asked}"
        self._answers[ident] = queue.SimpleQueue()
        self.send({"id": ident, "method": "elicitation/create", "params": form})
        if call.params["name"] == "hasty":
            raise TimeoutError
        return self._answers[ident].get()

    def _paint(self, call: Call) -> str:
        colour = call.ask("colour", COLOUR)
        self.note(f"paint {colour}")
        return f"painted {colour}"

    def _prime(self, call: Call) -> str:
        if self._older or not call.params.get("inputResponses"):
            self.note("prime")
        colour = call.ask("colour", COLOUR)
        self.note(f"paint {colour}")
        return f"painted {colour}"

    def _draw(self, call: Call) -> str:
        colour = call.ask("colour", COLOUR)
        shape = call.ask("shape", SHAPE)
        self.note(f"draw {colour} {shape}")
        return f"drawn a {colour} {shape}"

    def _hasty(self, call: Call) -> str:
        return call.ask("colour", COLOUR)

    def _add(self, call: Call) -> str:
        return "nothing added"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("log", type=Path)
    parser.add_argument("--older", action="store_true")
    given = parser.parse_args()
    Server(given.log, given.older).run()
    os._exit(0)  # calls that nobody answers any more have threads of their own


if __name__ == "__main__":
    main()
