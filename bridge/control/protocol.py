"""The control protocol: one line of JSON and then `bytes` raw bytes in, one line of JSON out, then the end.

The rule: sizes are known before anything is read, and everything refused is refused with a kind, a text and a fix.

Request  {"command": "send", "args": {...}, "bytes": 1234}
Reply    {"ok": true, "result": {...}}  or  {"ok": false, "error": {"kind": "refused", "message": "...", "fix": "..."}}
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

MAX_LINE: Final = 64 * 1024
MAX_PAYLOAD: Final = 1024 * 1024 * 1024
MAX_REPLY: Final = 64 * 1024 * 1024

BAD_REQUEST: Final = "bad-request"
UNKNOWN_COMMAND: Final = "unknown-command"
TOO_LARGE: Final = "too-large"
FORBIDDEN: Final = "forbidden"
BUSY: Final = "busy"
REFUSED: Final = "refused"
NOT_FOUND: Final = "not-found"
INTERNAL: Final = "internal"


class ControlError(Exception):
    """A command was not done. `message` and `fix` are sentences for the owner, `kind` is a stable name for programs."""

    def __init__(self, kind: str, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.fix = fix


@dataclass(frozen=True, slots=True)
class Request:
    """One command; `payload` is how many raw bytes follow the line."""

    command: str
    args: Mapping[str, Any]
    payload: int


def write_request(command: str, args: Mapping[str, Any], payload: int) -> bytes:
    """The line of a request. Raises ControlError when it is too long."""
    line = json.dumps({"command": command, "args": dict(args), "bytes": payload}).encode() + b"\n"
    if len(line) > MAX_LINE:
        raise ControlError(TOO_LARGE, f"the command has {len(line)} bytes, at most {MAX_LINE} are taken")
    return line


def read_request(line: bytes) -> Request:
    """The request of a line. Raises ControlError for whatever it is not."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        raise ControlError(BAD_REQUEST, "the request is not one line of JSON") from None
    if not isinstance(read, dict) or set(read) - {"command", "args", "bytes"}:
        raise ControlError(BAD_REQUEST, 'a request is an object of "command", "args" and "bytes"')
    command, args, payload = read.get("command"), read.get("args", {}), read.get("bytes", 0)
    if not isinstance(command, str) or not isinstance(args, dict):
        raise ControlError(BAD_REQUEST, '"command" is a text and "args" an object')
    if not isinstance(payload, int) or isinstance(payload, bool) or payload < 0:
        raise ControlError(BAD_REQUEST, '"bytes" is a whole number from 0')
    if payload > MAX_PAYLOAD:
        raise ControlError(TOO_LARGE, f"{payload} bytes are more than {MAX_PAYLOAD}")
    return Request(command, args, payload)


def write_reply(outcome: Json | ControlError) -> bytes:
    """The line of a reply."""
    if isinstance(outcome, ControlError):
        error = {"kind": outcome.kind, "message": outcome.message, "fix": outcome.fix}
        return json.dumps({"ok": False, "error": error}).encode() + b"\n"
    return json.dumps({"ok": True, "result": outcome}).encode() + b"\n"


def read_reply(line: bytes) -> Json:
    """The result of a reply line. Raises the ControlError it carries, or one that says it is none."""
    try:
        reply = json.loads(line)
        if reply["ok"]:
            result: Json = reply["result"]
            return result
        error = reply["error"]
        raised = ControlError(str(error["kind"]), str(error["message"]), str(error["fix"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ControlError(INTERNAL, "the server gave no answer that can be read", "look at its log") from None
    raise raised


class Args:
    """The arguments of one command, read one by one and typed; `done` refuses what nobody asked for."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._left = dict(given)

    def text(self, name: str) -> str:
        """A text that must be there."""
        value = self._left.pop(name, None)
        if not isinstance(value, str):
            raise ControlError(BAD_REQUEST, f"{name} is missing or is not a text")
        return value

    def optional(self, name: str) -> str | None:
        """A text that may be missing."""
        if self._left.get(name) is None:
            self._left.pop(name, None)
            return None
        return self.text(name)

    def number(self, name: str, default: int) -> int:
        """A whole number from 0."""
        value = self._left.pop(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ControlError(BAD_REQUEST, f"{name} is not a whole number from 0")
        return value

    def flag(self, name: str) -> bool:
        """True or false; false when missing."""
        value = self._left.pop(name, False)
        if not isinstance(value, bool):
            raise ControlError(BAD_REQUEST, f"{name} is neither true nor false")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty when missing."""
        value = self._left.pop(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise ControlError(BAD_REQUEST, f"{name} is not a list of texts")
        return tuple(value)

    def numbers(self, name: str) -> tuple[int, ...]:
        """A list of whole numbers from 0; empty when missing."""
        value = self._left.pop(name, [])
        if not isinstance(value, list) or not all(type(each) is int and each >= 0 for each in value):
            raise ControlError(BAD_REQUEST, f"{name} is not a list of whole numbers from 0")
        return tuple(value)

    def mapping(self, name: str) -> Mapping[str, Any]:
        """An object of JSON; empty when missing."""
        value = self._left.pop(name, {})
        if not isinstance(value, dict):
            raise ControlError(BAD_REQUEST, f"{name} is not an object")
        return value

    def done(self) -> None:
        """Refuse what is left."""
        if self._left:
            raise ControlError(BAD_REQUEST, f"unknown arguments: {', '.join(sorted(map(str, self._left)))}")
