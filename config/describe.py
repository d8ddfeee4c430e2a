"""The reference page of the settings, made from the settings themselves so that it cannot be wrong.

`python -m config.describe > docs/reference/settings.md` writes it; a test holds the file to it.
"""

import sys
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, Final, get_args, get_origin

from config.build import HIDDEN, file_key, inner_type
from config.secrets import Secret
from config.settings import Agent, Model, Settings, Signature, WatchedMailbox

INTRODUCTION: Final = """# Settings

Postroom needs no settings file. It looks for one at `--config`, then `POSTROOM_CONFIG`, then `postroom.toml` in the
data folder (`--home`, `POSTROOM_HOME`, or the platform's user data folder). Environment variables go above the file:
`POSTROOM_` and the path in capitals with `__` between levels, such as `POSTROOM_IMAP__EXTENSIONS=all`; lists are words
between commas. Flags go above both. All faults are reported at once, each with its file, line and fix.

A secret is never written here but referred to: `env:NAME`, `file:PATH` (mode 0600, yours) or `keyring:SERVICE/NAME`.

```toml
domain = "postroom.internal"

[relay]
host = "mail.example.net"
from = "ada@example.net"
username = "ada"
password = "file:relay.password"

[models.haiku]
model = "anthropic/claude-haiku"
api_key = "env:ANTHROPIC_API_KEY"

[agents.assistant]
model = "haiku"
skills = ["summariser"]
```

This page is made by `python -m config.describe`.
"""
NAMED: Final = {
    "agents": ("agents.NAME", Agent),
    "models": ("models.TAG", Model),
    "mailboxes": ("mailboxes.NAME", WatchedMailbox),
    "signatures": ("signatures.NAME", Signature),
}
WORDS: Final = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    Secret: "reference",
}


def page() -> str:
    """The whole page in Markdown."""
    return INTRODUCTION + "\n".join(_table("", Settings)) + "\n"


def _table(name: str, kind: Any) -> Iterator[str]:
    shown = [each for each in fields(kind) if each.name not in HIDDEN | {"home", "name"}]
    values = [each for each in shown if not is_dataclass(inner_type(each.type)) and each.name not in NAMED]
    yield ""
    yield f"## [{name}]" if name else "## General"
    yield ""
    yield (kind.__doc__ or "").split("\n")[0]
    yield ""
    yield "| key | value | default | what it is |"
    yield "|---|---|---|---|"
    yield from (
        f"| `{file_key(each)}` | {_kind(each)} | {_default(each)} | {each.metadata['help']} |" for each in values
    )
    for each in shown:
        if each.name in NAMED:
            yield from _table(*NAMED[each.name])
        elif each not in values and not (kind is Agent and each.name == "limits"):
            yield from _table(f"{name}.{each.name}".lstrip("."), inner_type(each.type))
    if kind is Agent:
        yield ""
        yield f"`[{name}.limits]` takes the keys of [limits] that differ for this agent."


def _kind(field: "Field[Any]") -> str:
    options = [each for each in get_args(field.type) or (field.type,) if each is not NoneType]
    if get_origin(field.type) is tuple:
        return f"list of {_word(options[0])}s"
    if any(isinstance(each, str) for each in options):
        return " or ".join(f"`{each}`" for each in options)
    return _word(options[0]) + _range(field)


def _word(kind: Any) -> str:
    if get_origin(kind) is tuple:
        return "list of texts"
    return WORDS.get(kind, "text or list of texts")


def _range(field: "Field[Any]") -> str:
    low, high = field.metadata["low"], field.metadata["high"]
    if low is None:
        return ""
    return f", {low:.10g} or more" if high is None else f", {low:.10g} to {high:.10g}"


def _default(field: "Field[Any]") -> str:
    if field.default is None or field.default in ("", (), MISSING):
        return ""
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if isinstance(field.default, tuple):
        return "`[" + ", ".join(f'"{each}"' for each in field.default) + "]`"
    return f'`"{field.default}"`' if isinstance(field.default, str) else f"`{field.default}`"


if __name__ == "__main__":
    sys.stdout.write(page())
