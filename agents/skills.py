"""Skills: folders with a SKILL.md whose front matter declares a specialist and whose body instructs it.

The rule: a skill runs only as declared. A front matter that cannot be read exactly, above all its gates, keeps the
skill from being ready and is reported; it is never read as "no gate". Sources are given in rising priority:
built-in, plugin, user; a later one replaces an earlier one of the same name, and a broken later one does not bring
the earlier one back.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path

from agents.profile import Profile

FILE = "SKILL.md"
MAX_BYTES = 256 * 1024
NAME = re.compile(r"[a-z][a-z0-9-]{0,63}")
_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,127}|[A-Za-z][A-Za-z0-9_-]{0,63}\.\*")
_ENTRY = re.compile(r"([A-Za-z][A-Za-z0-9_-]*):(?:\s+(.*)|)$")
_QUOTED = re.compile(r"""("[^"]*"|'[^']*')\s*(?:#.*)?""")
_GATES = ("interruptOn", "interrupt_on")
_TOOLS = ("tools", "allowed-tools")

Value = str | list[str] | dict[str, str]


class SkillInvalid(Exception):
    """A skill that cannot be used, and why; `place` is the file."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"{place}: {why}")
        self.place = place
        self.why = why


@dataclass(frozen=True, slots=True)
class SkillFault:
    """A skill that is not ready: its name (of the folder), file and reason, for status and doctor."""

    name: str
    place: str
    why: str


@dataclass(frozen=True, slots=True)
class Skills:
    """The ready specialists by name, and what is wrong with the others."""

    ready: Mapping[str, Profile]
    faults: tuple[SkillFault, ...]

    def profiles(self) -> tuple[Profile, ...]:
        return tuple(self.ready[name] for name in sorted(self.ready))


def builtin_folder() -> Path:
    """The folder of the skills that come with the program."""
    return Path(str(resources.files("agents"))) / "builtin" / "skills"


def load(sources: Sequence[Path], tools: Iterable[str] | None = None) -> Skills:
    """Read every skill of the source folders. `tools` are the known tool names; a skill that declares another is not
    ready.

    A source folder that does not exist holds no skills.
    """
    known = None if tools is None else frozenset(tools)
    ready: dict[str, Profile] = {}
    faults: list[SkillFault] = []
    for folder in (folder for source in sources for folder in folders(source)):
        ready.pop(folder.name, None)
        try:
            profile = read_skill(folder / FILE)
            _check(profile, folder, known)
        except SkillInvalid as fault:
            faults.append(SkillFault(folder.name, fault.place, fault.why))
        else:
            ready[profile.name] = profile
    return Skills(ready, tuple(faults))


def folders(source: Path) -> list[Path]:
    """The skill folders of a source; one that does not exist holds none."""
    if not source.is_dir():
        return []
    return sorted(folder for folder in source.iterdir() if (folder / FILE).is_file())


def check_name(profile: Profile, folder: Path) -> None:
    """Raises SkillInvalid when a skill is not named like its folder."""
    place = str(folder / FILE)
    if profile.name != folder.name:
        raise SkillInvalid(place, f'its name is "{profile.name}" but its folder is "{folder.name}"; they must agree')


def _check(profile: Profile, folder: Path, known: frozenset[str] | None) -> None:
    check_name(profile, folder)
    place = str(folder / FILE)
    missing = sorted(set(profile.tools or ()) - known) if known is not None else []
    if missing:
        raise SkillInvalid(place, f"tools: there is no tool {', '.join(missing)}")


def read_skill(path: Path) -> Profile:
    """One SKILL.md as a profile. Raises SkillInvalid, which names the field."""
    place = str(path)
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise SkillInvalid(place, f"cannot be read as UTF-8 text ({type(fault).__name__})") from None
    if len(raw) > MAX_BYTES:
        raise SkillInvalid(place, f"is larger than {MAX_BYTES // 1024} KiB")
    return parse_skill(text, place)


def parse_skill(text: str, place: str) -> Profile:
    """The text of a SKILL.md as a profile. Raises SkillInvalid, which names the field."""
    fields, body = _front_matter(text.replace("\r\n", "\n"), place)
    name = _text(fields, "name", place)
    if not NAME.fullmatch(name):
        raise SkillInvalid(place, f'name: "{name}" is not lower-case letters, digits and hyphens')
    if not body.strip():
        raise SkillInvalid(place, "has no instructions after the front matter")
    tools = _tools(fields, place)
    return Profile(
        name=name,
        display=name.replace("-", " ").capitalize(),
        instructions=body.strip(),
        description=_text(fields, "description", place),
        tools=tools,
        skills=(),
        model=_optional(fields, "model", place),
        interrupt_on=_gates(fields, tools, place),
        requires=_requires(fields, place),
    )


def _text(fields: Mapping[str, Value], name: str, place: str) -> str:
    value = _optional(fields, name, place)
    if not value:
        raise SkillInvalid(place, f"{name}: is missing")
    return value


def _optional(fields: Mapping[str, Value], name: str, place: str) -> str | None:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise SkillInvalid(place, f"{name}: must be text")
    return value or None


def _tools(fields: Mapping[str, Value], place: str) -> tuple[str, ...]:
    given = [name for name in _TOOLS if name in fields]
    if len(given) != 1:
        raise SkillInvalid(place, "tools: must be given once (an empty list for none)")
    value = fields[given[0]]
    names = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(_TOOL.fullmatch(name) for name in names):
        raise SkillInvalid(place, "tools: must be a list of tool names")
    return tuple(dict.fromkeys(names))


def _requires(fields: Mapping[str, Value], place: str) -> tuple[str, ...]:
    """The skills that must be ready too."""
    value = fields.get("requires", [])
    names = [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(NAME.fullmatch(name) for name in names):
        raise SkillInvalid(place, "requires: must be a list of names of skills")
    return tuple(dict.fromkeys(names))


def _gates(fields: Mapping[str, Value], tools: tuple[str, ...], place: str) -> frozenset[str]:
    """The tools that always ask: a list of names, or `name: true` lines (`false` leaves the tool to its own risk)."""
    given = [name for name in _GATES if name in fields]
    if not given:
        return frozenset()
    value = fields[given[0]]
    if len(given) > 1 or isinstance(value, str):
        raise SkillInvalid(place, "interruptOn: must be one list of tool names, or name: true lines")
    states = dict.fromkeys(value, "true") if isinstance(value, list) else value
    for name, state in states.items():
        if not any(fnmatchcase(name, tool) for tool in tools):
            raise SkillInvalid(place, f"interruptOn: {name} is not among its tools, so the gate would guard nothing")
        if state not in ("true", "false"):
            raise SkillInvalid(place, f'interruptOn: {name} must be true or false, not "{state}"')
    return frozenset(name for name, state in states.items() if state == "true")


def _front_matter(text: str, place: str) -> tuple[dict[str, Value], str]:
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        raise SkillInvalid(place, "does not begin with a front matter (a line ---)")
    ends = [number for number, line in enumerate(lines) if number and line.rstrip() == "---"]
    if not ends:
        raise SkillInvalid(place, "its front matter has no end (a second line ---)")
    return _fields(lines[1 : ends[0]], place), "\n".join(lines[ends[0] + 1 :])


def _fields(lines: Sequence[str], place: str) -> dict[str, Value]:
    """The subset of YAML that front matters use: `key: text`, lists (in brackets or as - lines) and one level of
    `key: value` below.
    """
    fields: dict[str, Value] = {}
    number = 0
    while number < len(lines):
        line = lines[number].rstrip()
        number += 1
        if not line or line.lstrip().startswith("#"):
            continue
        found = _ENTRY.match(line)
        if not found:
            raise SkillInvalid(place, f'front matter line {number + 1} is not "key: value"')
        key, value = found.group(1), _uncomment(found.group(2) or "")
        if key in fields:
            raise SkillInvalid(place, f"{key}: is given twice")
        below = _indented(lines, number)
        number += len(below)
        fields[key] = _value(key, value, [entry.strip() for entry in below if entry.strip()], place)
    return fields


def _indented(lines: Sequence[str], start: int) -> list[str]:
    end = start
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t" or lines[end].startswith("- ")):
        end += 1
    return list(lines[start:end])


def _value(key: str, value: str, below: list[str], place: str) -> Value:
    below = [line for line in below if not line.startswith("#")]
    if value in (">", "|", ">-", "|-"):
        return (" " if value[0] == ">" else "\n").join(below)
    if value and below:
        raise SkillInvalid(place, f"{key}: has both a value and lines below it")
    if value.startswith("["):
        if not value.endswith("]"):
            raise SkillInvalid(place, f"{key}: the list is not closed")
        return [_unquote(part.strip()) for part in value[1:-1].split(",") if part.strip()]
    if value.startswith(("{", "&", "*", "!", "]", "}", "- ")):
        raise SkillInvalid(place, f"{key}: this kind of value is not understood")
    return _unquote(value) if not below else _block(key, below, place)


def _block(key: str, lines: Sequence[str], place: str) -> Value:
    if all(line.startswith("- ") for line in lines):
        return [_unquote(_uncomment(line[2:]).strip()) for line in lines]
    pairs: dict[str, str] = {}
    for line in lines:
        found = _ENTRY.match(line)
        if not found or found.group(1) in pairs:
            raise SkillInvalid(place, f'{key}: the line "{line}" is not understood')
        pairs[found.group(1)] = _unquote(_uncomment(found.group(2) or ""))
    return pairs


def _uncomment(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    if quoted:
        return quoted.group(1)
    return re.split(r"\s#", value, maxsplit=1)[0].strip()


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value
