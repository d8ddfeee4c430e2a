"""Checks a call's arguments against the JSON Schema of its tool, with texts that name the field.

The rule: what is not understood is not let through as valid by accident of order: every keyword below is checked at every
level, and keywords outside this set (formats, conditionals) only ever narrow, so leaving them to the tool is safe.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

MAX_DEPTH = 32
MAX_FAULTS = 8

Schema = Mapping[str, Any]
Check = Callable[[Any, Schema, str], Iterator[str]]

_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
    ),
}


def parse(raw: str) -> dict[str, Any]:
    """Raw argument text as an object; empty text is no arguments. Raises ValueError with a text that names the place."""
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw)
    except json.JSONDecodeError as fault:
        where = f"line {fault.lineno}, column {fault.colno}"
        raise ValueError(f"The arguments are not valid JSON ({fault.msg} at {where}).") from None
    except RecursionError:
        raise ValueError("The arguments are nested too deeply.") from None
    if not isinstance(value, dict):
        raise ValueError("The arguments must be one JSON object.")
    return value


def faults(schema: Schema, args: Any) -> list[str]:
    """What is wrong with the arguments, at most a few lines; empty when they fit."""
    found: list[str] = []
    for text in _faults(args, schema, "", schema, 0):
        found.append(text)
        if len(found) == MAX_FAULTS:
            break
    return found


def _faults(value: Any, schema: Any, at: str, root: Schema, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        yield f"{at or 'the arguments'}: nested too deeply"
        return
    if schema is True or not isinstance(schema, Mapping):
        if schema is False:
            yield f"{at}: is not allowed"
        return
    if isinstance(schema.get("$ref"), str):
        yield from _faults(value, _resolve(schema["$ref"], root), at, root, depth + 1)
    wrong = list(_type(value, schema, at))
    yield from wrong
    if wrong:
        return
    for check in (_fixed, _text, _number):
        yield from check(value, schema, at)
    yield from _object(value, schema, at, root, depth)
    yield from _array(value, schema, at, root, depth)
    yield from _combined(value, schema, at, root, depth)


def _resolve(ref: str, root: Schema) -> Any:
    """The schema a local reference names; one that leads nowhere allows nothing."""
    here: Any = root
    for part in ref.removeprefix("#").strip("/").split("/"):
        if part:
            key = part.replace("~1", "/").replace("~0", "~")
            here = here.get(key, False) if isinstance(here, Mapping) else False
    return here if ref.startswith("#") else False


def _name(at: str) -> str:
    return at or "the arguments"


def _type(value: Any, schema: Schema, at: str) -> Iterator[str]:
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else list(wanted or ())
    known = [name for name in names if name in _TYPES]
    if known and not any(_TYPES[name](value) for name in known):
        yield f"{_name(at)}: must be {_article(' or '.join(known))}, not {_shown(value)}"


def _article(kind: str) -> str:
    return kind if kind == "null" else f"an {kind}" if kind[0] in "aio" else f"a {kind}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _fixed(value: Any, schema: Schema, at: str) -> Iterator[str]:
    allowed = schema.get("enum")
    if isinstance(allowed, Sequence) and value not in allowed:
        yield f"{_name(at)}: must be one of {', '.join(_shown(one) for one in allowed)}, not {_shown(value)}"
    if "const" in schema and value != schema["const"]:
        yield f"{_name(at)}: must be {_shown(schema['const'])}"


def _text(value: Any, schema: Schema, at: str) -> Iterator[str]:
    if not isinstance(value, str):
        return
    least, most, pattern = schema.get("minLength", 0), schema.get("maxLength"), schema.get("pattern")
    if len(value) < least:
        yield f"{_name(at)}: must not be empty" if least == 1 else f"{_name(at)}: must have at least {least} characters"
    if most is not None and len(value) > most:
        yield f"{_name(at)}: has {len(value)} characters, at most {most} are allowed"
    if isinstance(pattern, str) and not _matches(pattern, value):
        yield f"{_name(at)}: {_shown(value)} does not have the form {pattern}"


def _matches(pattern: str, value: str) -> bool:
    """A pattern that Python cannot read is a server's fault and refuses nothing; the server checks again."""
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True


def _number(value: Any, schema: Schema, at: str) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{_name(at)}: must be at least {schema['minimum']}, not {value}"
    if "maximum" in schema and value > schema["maximum"]:
        yield f"{_name(at)}: must be at most {schema['maximum']}, not {value}"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"{_name(at)}: must be more than {schema['exclusiveMinimum']}, not {value}"
    if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        yield f"{_name(at)}: must be less than {schema['exclusiveMaximum']}, not {value}"


def _object(value: Any, schema: Schema, at: str, root: Schema, depth: int) -> Iterator[str]:
    if not isinstance(value, Mapping):
        return
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{_join(at, name)}: is required"
    for name, item in value.items():
        if name in known:
            yield from _faults(item, known[name], _join(at, name), root, depth + 1)
        elif schema.get("additionalProperties", True) is False:
            yield f"{_join(at, name)}: there is no such argument; there are {', '.join(known) or 'none'}"
        elif isinstance(schema.get("additionalProperties"), Mapping):
            yield from _faults(item, schema["additionalProperties"], _join(at, name), root, depth + 1)


def _join(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _array(value: Any, schema: Schema, at: str, root: Schema, depth: int) -> Iterator[str]:
    if not isinstance(value, list):
        return
    if len(value) < schema.get("minItems", 0):
        yield f"{_name(at)}: needs at least {schema['minItems']}"
    if len(value) > schema.get("maxItems", len(value)):
        yield f"{_name(at)}: has {len(value)} entries, at most {schema['maxItems']} are allowed"
    if schema.get("uniqueItems") and any(item in value[:number] for number, item in enumerate(value)):
        yield f"{_name(at)}: holds the same entry twice"
    for number, item in enumerate(value):
        yield from _faults(item, schema.get("items", True), f"{at}[{number}]", root, depth + 1)


def _combined(value: Any, schema: Schema, at: str, root: Schema, depth: int) -> Iterator[str]:
    for one in schema.get("allOf", ()):
        yield from _faults(value, one, at, root, depth + 1)
    for word in ("anyOf", "oneOf"):
        options = schema.get(word)
        if not options:
            continue
        results = [list(_faults(value, one, at, root, depth + 1)) for one in options]
        if all(results):
            yield min(results, key=len)[0]
        elif word == "oneOf" and sum(not result for result in results) > 1:
            yield f"{_name(at)}: fits more than one of the allowed forms"
    if "not" in schema and not list(_faults(value, schema["not"], at, root, depth + 1)):
        yield f"{_name(at)}: {_shown(value)} is not allowed"
