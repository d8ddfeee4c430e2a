"""Questions that a server asks within a call: shown to the user as a question mail, their words read as its form wants.

The rule: the call is parked as a row and may wait for days; what is sent back is what the user wrote and nothing else,
and words that do not fit the form are asked for again.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from agents.tool import ToolAsks

MOST_ROUNDS: Final = 5
MESSAGE_CHARACTERS: Final = 2000
_YES: Final = frozenset({"yes", "y", "true", "on", "ok", "approve", "accept"})
_NO: Final = frozenset({"no", "n", "false", "off"})
_PAIR: Final = re.compile(r"\s*([\w.-]+)\s*[:=]\s*(.*\S)\s*")

Json = dict[str, Any]


class Unfit(Exception):
    """The user's words do not fit the form; the text says how."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a server wants before a call goes on: its questions by its own keys, and its opaque state; `held`: the call
    is kept open at the server meanwhile.
    """

    state: str | None
    questions: Mapping[str, Json]
    held: bool = False


def ask(server: str, wanted: Wanted, responses: Mapping[str, Json], rounds: int, note: str = "") -> ToolAsks:
    """The next question without an answer, as the runtime is to ask it."""
    key = next(key for key in wanted.questions if key not in responses)
    question = wanted.questions[key]
    form = fields(question)
    head = f"The MCP server {server} asks, before its tool goes on:\n\n{question['message'][:MESSAGE_CHARACTERS]}"
    parts = [head, _how(form), f"({note})" if note else ""]
    asked = {
        "state": wanted.state,
        "held": wanted.held,
        "questions": dict(wanted.questions),
        "responses": dict(responses),
        "now": key,
        "rounds": rounds,
    }
    return ToolAsks("\n\n".join(part for part in parts if part), _choices(form), asked)


def fields(question: Json) -> Mapping[str, Json]:
    """The fields of a question's form, by name."""
    properties = (question.get("schema") or {}).get("properties") or {}
    return {name: one for name, one in properties.items() if isinstance(one, dict)}


def _how(form: Mapping[str, Json]) -> str:
    if not form:
        return 'Answer "yes" to agree.'
    if len(form) == 1:
        [(name, one)] = form.items()
        return f"It wants: {_described(name, one)}."
    lines = "\n".join(f"{name}: {_kind(one)}" for name, one in form.items())
    return f"Answer with a line for each:\n\n{lines}"


def _described(name: str, one: Json) -> str:
    words = str(one.get("title") or one.get("description") or name)
    return f"{words[:200]} ({_kind(one)})"


def _kind(one: Json) -> str:
    if values := _values(one):
        return f"one of {', '.join(values)}"
    names = {"boolean": "yes or no", "integer": "a whole number", "number": "a number"}
    return names.get(str(one.get("type")), "text")


def _values(one: Json) -> list[str]:
    found = one.get("enum") or [each.get("const") for each in one.get("oneOf") or () if isinstance(each, dict)]
    return [str(value) for value in found if value is not None]


def _choices(form: Mapping[str, Json]) -> tuple[str, ...]:
    if len(form) > 1:
        return ()
    one = next(iter(form.values()), {"type": "boolean"})
    return tuple(_values(one)) or (("yes", "no") if one.get("type") == "boolean" else ())


def response(question: Json, words: str, declined: bool) -> Json:
    """The answer to a question in the form that the protocol wants. Raises Unfit."""
    form = fields(question)
    if declined:
        return {"action": "decline"}
    if not form:
        return {"action": "accept" if words.strip().lower().rstrip(".!") in _YES else "decline"}
    given = {next(iter(form)): words.strip()} if len(form) == 1 else _pairs(form, words)
    required = set((question.get("schema") or {}).get("required") or form)
    if missing := [name for name in form if name in required and name not in given]:
        raise Unfit(f"{', '.join(missing)}: nothing was given")
    return {"action": "accept", "content": {name: _read(name, form[name], text) for name, text in given.items()}}


def _pairs(form: Mapping[str, Json], words: str) -> dict[str, str]:
    """`name: value` lines; names are read in any case."""
    known = {name.lower(): name for name in form}
    found = [fit for line in words.splitlines() if (fit := _PAIR.fullmatch(line))]
    return {known[fit[1].lower()]: fit[2] for fit in found if fit[1].lower() in known}


def _read(name: str, one: Json, text: str) -> Any:
    plain = text.strip().lower().rstrip(".!")
    if values := _values(one):
        fitting = [value for value in values if value.lower() in (text.strip().lower(), plain)]
        if not fitting:
            raise Unfit(f"{name}: one of {', '.join(values)} is wanted")
        return fitting[0]
    kind = one.get("type")
    if kind == "boolean":
        if plain not in _YES | _NO:
            raise Unfit(f"{name}: yes or no is wanted")
        return plain in _YES
    if kind not in ("integer", "number"):
        return text.strip()
    try:
        number = int(plain) if kind == "integer" else float(plain)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):  # JSON has no number for "inf" and "nan" either
        raise Unfit(f"{name}: {_kind(one)} is wanted")
    return number
