"""From a tree of values to typed settings: every value is checked against its field, and every fault is kept.

A value that is wrong is reported and its default taken, so that one load finds all faults. No value of a secret is
ever repeated in a fault.
"""

import dataclasses
import math
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

from config.errors import Fault
from config.secrets import Secret, reference_fault
from config.source import Leaf, Origin, Tree

D = TypeVar("D")

TRUE_WORDS: Final = frozenset({"true", "yes", "on", "1"})
FALSE_WORDS: Final = frozenset({"false", "no", "off", "0"})
SHOWN_CHARACTERS: Final = 60
HIDDEN: Final = frozenset({"debug_crash_at", "debug_points_file"})


class Wrong(Exception):
    """A value does not fit its field."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class Builder:
    """Builds dataclasses from a tree and collects the faults it finds in `faults`."""

    def __init__(self, environ: Mapping[str, str], folder: Path | None) -> None:
        """`environ` serves `env:` secrets; relative paths of secrets are taken from `folder`."""
        self.faults: list[Fault] = []
        self._environ = environ
        self._folder = folder

    def table(self, kind: type[D], node: Tree | Leaf, key: str, base: D) -> D:
        """An instance of `kind` with the values of `node`; what is missing or wrong stays as in `base`."""
        if isinstance(node, Leaf):
            self.fault(node.origin, key, "is a table of settings, not a value", f"write [{key}] and its keys below")
            return base
        fields = {file_key(field): field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]  # D is always one of our dataclasses
        values: dict[str, object] = {}
        for name, child in node.items():
            dotted = f"{key}.{name}" if key else name
            field = fields.get(name)
            if field is None or (name == "name" and key):
                self.unknown(child, dotted, name, [known for known in fields if known not in HIDDEN | {"name"}])
            else:
                values[field.name] = self._field(field, child, dotted, getattr(base, field.name))
        return dataclasses.replace(base, **values)  # type: ignore[type-var]  # as above

    def _field(self, field: "dataclasses.Field[Any]", node: Tree | Leaf, key: str, default: object) -> object:
        kind = inner_type(field.type)
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            return self.table(kind, node, key, kind() if default is None else default)
        if isinstance(node, dict):
            origin = first_origin(node)
            self.fault(origin, key, "is one value, not a table", f"write {key.rpartition('.')[2]} = ...")
            return default
        try:
            value = self._convert(field.type, node)
            _check_range(value, field.metadata)
        except Wrong as wrong:
            self.fault(node.origin, key, wrong.message, wrong.fix)
            return default
        return value

    def named(
        self, kind: type[D], node: Tree | Leaf, key: str, base: Callable[[str], D], fault: Callable[[str], str | None]
    ) -> dict[str, D]:
        """A table of tables: one instance of `kind` for each name; `fault` says what is wrong with a name."""
        if isinstance(node, Leaf):
            self.fault(node.origin, key, "is a table of tables", f"write [{key}.NAME] and its keys below")
            return {}
        built: dict[str, D] = {}
        for name, child in node.items():
            dotted = f"{key}.{name}"
            if (problem := fault(name)) is not None:
                self.fault(first_origin(child), dotted, problem, "choose lower-case letters, digits, '.', '_' and '-'")
            else:
                built[name] = self.table(kind, child, dotted, base(name))
        return built

    def unknown(self, node: Tree | Leaf, key: str, name: str, known: Collection[str]) -> None:
        """Report a key that does not exist, with the likely meant one."""
        self.fault(first_origin(node), key, "is not a setting", did_you_mean(name, known))

    def fault(self, origin: Origin | None, key: str, message: str, fix: str) -> None:
        """Keep a fault."""
        file, line = (origin.file, origin.line) if origin else (None, None)
        self.faults.append(Fault(file, line, key, message, fix))

    def _convert(self, kind: Any, leaf: Leaf) -> object:
        options = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        wrong = Wrong("cannot be set", "leave it out")
        for option in options:
            if option is NoneType:
                continue
            try:
                return self._convert_one(option, leaf)
            except Wrong as error:
                wrong = error
        raise wrong

    def _convert_one(self, kind: Any, leaf: Leaf) -> object:
        if kind is Secret:
            return self._secret(leaf)
        if get_origin(kind) is Literal:
            return _literal(get_args(kind), leaf)
        if get_origin(kind) is tuple:
            return tuple(self._convert_one(get_args(kind)[0], item) for item in _items(leaf))
        return SCALARS[kind](leaf)

    def _secret(self, leaf: Leaf) -> Secret:
        if leaf.origin.file.startswith("environment variable "):
            return Secret(f"env:{leaf.origin.file.rpartition(' ')[2]}", environ=self._environ)
        if not isinstance(leaf.value, str):
            raise Wrong("is a reference to a secret", "write env:NAME, file:PATH or keyring:SERVICE/NAME in quotes")
        if (problem := reference_fault(leaf.value)) is not None:
            raise Wrong(*problem)
        return Secret(leaf.value, environ=self._environ, folder=self._folder)


def file_key(field: "dataclasses.Field[Any]") -> str:
    """The name of a field in files, flags and the environment."""
    return field.metadata.get("key") or field.name


def first_origin(node: Tree | Leaf) -> Origin | None:
    """Where a value, or the first value of a table, stands."""
    if isinstance(node, Leaf):
        return node.origin
    return next((origin for child in node.values() if (origin := first_origin(child))), None)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The fix for an unknown name: the nearest known one, or all of them."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"known here: {', '.join(sorted(known))}" if known else "remove it"


def shown(value: object) -> str:
    """A value for a fault text, on one line and short."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."


def inner_type(kind: Any) -> Any:
    """The type beside None in `X | None`."""
    options = [option for option in get_args(kind) if option is not NoneType]
    return options[0] if get_origin(kind) in (Union, UnionType) and len(options) == 1 else kind


def _check_range(value: object, metadata: Mapping[str, Any]) -> None:
    low, high = metadata.get("low"), metadata.get("high")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if not math.isfinite(value):
        raise Wrong(f"{value} is not a number to count with", "write a plain number")
    if low is not None and value < low:
        raise Wrong(f"{value} is too small", f"write {low:g} or more")
    if high is not None and value > high:
        raise Wrong(f"{value} is too large", f"write {high:g} or less")


def _literal(choices: tuple[object, ...], leaf: Leaf) -> object:
    if leaf.value in choices:
        return leaf.value
    wanted = ", ".join(f'"{choice}"' for choice in choices)
    raise Wrong(f"{shown(leaf.value)} is not one of the choices", f"write one of {wanted}")


def _items(leaf: Leaf) -> list[Leaf]:
    value = leaf.value
    if leaf.text and isinstance(value, str):
        value = _list_of_words(value)
    if isinstance(value, list | tuple):
        return [Leaf(item, leaf.origin) for item in value]
    raise Wrong(f"{shown(leaf.value)} is not a list", 'write ["first", "second"]')


def _list_of_words(text: str) -> object:
    """A list from the environment or a flag: TOML in brackets, or words between commas."""
    if not text.lstrip().startswith("["):
        return [word.strip() for word in text.split(",") if word.strip()]
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        raise Wrong(f"{shown(text)} is not a list", "write words between commas") from None


def _boolean(leaf: Leaf) -> bool:
    if isinstance(leaf.value, bool):
        return leaf.value
    word = leaf.value.strip().lower() if leaf.text and isinstance(leaf.value, str) else ""
    if word in TRUE_WORDS or word in FALSE_WORDS:
        return word in TRUE_WORDS
    raise Wrong(f"{shown(leaf.value)} is neither true nor false", "write true or false, without quotes")


def _integer(leaf: Leaf) -> int:
    if isinstance(leaf.value, int) and not isinstance(leaf.value, bool):
        return leaf.value
    if leaf.text and isinstance(leaf.value, str):
        try:
            return int(leaf.value)
        except ValueError:
            pass
    raise Wrong(f"{shown(leaf.value)} is not a whole number", "write a whole number, without quotes")


def _number(leaf: Leaf) -> float:
    if isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool):
        return float(leaf.value)
    if leaf.text and isinstance(leaf.value, str):
        try:
            return float(leaf.value)
        except ValueError:
            pass
    raise Wrong(f"{shown(leaf.value)} is not a number", "write a number, without quotes")


def _string(leaf: Leaf) -> str:
    if not isinstance(leaf.value, str):
        raise Wrong(f"{shown(leaf.value)} is not text", "write it in quotes")
    if "\0" in leaf.value:
        raise Wrong("holds a NUL", "write it without")
    return leaf.value


def _path(leaf: Leaf) -> Path:
    if isinstance(leaf.value, Path):
        return leaf.value
    return Path(_string(leaf)).expanduser()


SCALARS: Final[Mapping[Any, Callable[[Leaf], object]]] = {
    bool: _boolean,
    int: _integer,
    float: _number,
    str: _string,
    Path: _path,
}
