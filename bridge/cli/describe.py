"""The reference page of the command line, made from the commands themselves so that it cannot be wrong.

`python -m bridge.cli.describe > docs/reference/cli.md` writes it; a test holds the file to it.
"""

import inspect
import sys
from collections.abc import Iterator
from typing import Any, Final

INTRODUCTION: Final = """# The command line

`postroom COMMAND --help` shows the same in a terminal. A command works beside a running server, through a socket in the
data folder that only its owner can reach, and without one, on the data folder itself (on Windows only without).

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | not done, or a check failed |
| 2 | wrong usage or configuration |
| 3 | the data folder is in use, or the server is there and does not answer |
| 130 | interrupted |

Every command takes `--help`, and those below with a data folder take `--home DIR` and `--config FILE`.

This page is made by `python -m bridge.cli.describe`.
"""
COMMON: Final = frozenset({"--help", "--home", "--config"})


def page() -> str:
    """The whole page in Markdown."""
    from typer.main import get_command

    from bridge.cli.program import program

    root: Any = get_command(program())
    return (
        INTRODUCTION
        + "\n".join(line for name, command in root.commands.items() for line in _command(name, command))
        + "\n"
    )


def _command(name: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for below, function in command.commands.items():
            yield from _command(f"{name} {below}", function)
        return
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each not in arguments and not each.hidden and not _common(each)]
    yield ""
    yield f"## postroom {' '.join([name, *(_argument(each) for each in arguments)])}"
    yield ""
    yield inspect.cleandoc(command.help or "").replace("\n", " ")
    if arguments or options:
        yield ""
        yield "| argument or option | what it is |"
        yield "|---|---|"
        yield from (f"| `{each.name.upper()}` | {_meaning(each)} |" for each in arguments)
        yield from (f"| {_names(each)} | {_meaning(each)} |" for each in options)


def _common(parameter: Any) -> bool:
    return bool(COMMON & set(parameter.opts))


def _argument(parameter: Any) -> str:
    name = parameter.name.upper() + ("..." if parameter.nargs == -1 else "")
    return name if parameter.required else f"[{name}]"


def _names(parameter: Any) -> str:
    return ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])


def _meaning(parameter: Any) -> str:
    """The help text, with the default where it says something."""
    text = (parameter.help or "").replace("|", "\\|")
    shown = parameter.show_default
    default = parameter.default
    if isinstance(shown, str):
        return f"{text} Default: {shown}."
    if default in (None, False, "") or callable(default):
        return f"{text} Required." if parameter.required else text
    return f"{text} Default: {default}."


if __name__ == "__main__":
    sys.stdout.write(page())
