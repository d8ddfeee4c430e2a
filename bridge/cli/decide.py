"""`approve` and `reject`: deciding from a terminal what an agent asked for.

The rule: exactly what will run is shown before it is decided, and only the revision that was shown is. A change
releases nothing: what it came to is shown again, and needs a decision of its own.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from bridge.cli.common import FAILED, USAGE, AccountName, CliError, Config, Home, ask, is_running, settings_of
from config.settings import Settings

GOOD_OUTCOMES: Final = frozenset({"approved", "rejected", "answered", "edited", "confirmed", "skipped", "half"})
Code = Annotated[str, typer.Argument(help="The code in the request's subject, such as A-7F3K.")]
Items = Annotated[
    list[str] | None, typer.Argument(help="Only these items, by number: 1 3, or 1,3.", show_default="all of them")
]


@dataclass(frozen=True, slots=True)
class _Choice:
    """What was decided on the command line; `verdict` is None where it is still to be asked."""

    items: tuple[int, ...]
    verdict: str | None
    text: str = ""


def approve(
    code: Code,
    items: Items = None,
    yes: Annotated[bool, typer.Option("--yes", help="Approve without asking.")] = False,
    done: Annotated[bool, typer.Option("--done", help="It happened; for one whose outcome is unknown.")] = False,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="Change a field first; it is shown again. May be repeated."),
    ] = None,
    reject: Annotated[
        str | None, typer.Option("--reject", help="Do not let it run; the reason goes to the agent.")
    ] = None,
    answer: Annotated[str | None, typer.Option("--answer", help="Answer a question in these words.")] = None,
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Show a request exactly as it will run, and decide it, all of it or some of its items."""
    if sum((yes, done, bool(change), reject is not None, answer is not None)) > 1:
        raise CliError("--yes, --done, --set, --reject and --answer exclude each other", "give one of them", USAGE)
    settings, chosen, edits = settings_of(home, config), _numbers(items or ()), _changes(change or ())
    desk = _Desk(settings, account)
    request = desk.shown(code)
    if edits:
        desk.change(request, chosen, edits)
        desk.shown(code)
        typer.echo(f"Nothing was done yet. To let it run: postroom approve {request['code']}")
        return
    flags = {"reject": reject is not None, "answer": answer is not None, "approve": yes, "done": done}
    verdict = next((name for name, given in flags.items() if given), None)
    desk.decide(request, _Choice(chosen, verdict, reject or answer or ""))


def reject(
    code: Code,
    items: Items = None,
    reason: Annotated[str, typer.Option("--reason", help="Why not; it goes to the agent.")] = "",
    account: AccountName = None,
    home: Home = None,
    config: Config = None,
) -> None:
    """Show a request and refuse it, all of it or some of its items: nothing of that is done."""
    desk, chosen = _Desk(settings_of(home, config), account), _numbers(items or ())
    desk.decide(desk.shown(code), _Choice(chosen, "reject", reason))


def _numbers(given: Sequence[str]) -> tuple[int, ...]:
    """The numbers of items, one a word or several between commas."""
    parts = [part.strip() for word in given for part in word.split(",") if part.strip()]
    if wrong := [part for part in parts if not (part.isascii() and part.isdigit() and len(part) < 5)]:
        raise CliError(f"{wrong[0]!r} is no number of an item", "write the numbers that the request shows: 1 3", USAGE)
    return tuple(dict.fromkeys(map(int, parts)))


def _changes(given: Sequence[str]) -> dict[str, str]:
    """The new values by field."""
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not (equals and name.strip()):
            raise CliError(f"{one!r} changes no field", 'write --set "field=value"', USAGE)
        if name.strip().lower() in found:
            raise CliError(f"{name.strip()} is set twice", "give each field one value", USAGE)
        found[name.strip().lower()] = value
    return found


class _Desk:
    """Requests of one account, asked of the server or of the data folder."""

    def __init__(self, settings: Settings, account: str | None) -> None:
        self._settings = settings
        self._account = account

    def shown(self, code: str) -> dict[str, Any]:
        """The newest revision of a request, printed as it stands."""
        request = ask(self._settings, "request", {"account": self._account, "code": code})
        typer.echo(f"{request['title']} [{request['code']}]\n\n{request['text']}\n")
        if request["state"] != "open":
            raise CliError(f"this request was decided before ({request['state']}); nothing was changed")
        return request

    def change(self, request: dict[str, Any], items: tuple[int, ...], edits: dict[str, str]) -> None:
        """Have fields of one item changed; nothing is released by that."""
        self._tell(request, {"verdict": "edit", "items": list(items), "edits": edits})
        typer.echo()

    def decide(self, request: dict[str, Any], choice: _Choice) -> None:
        """Decide what was shown; ask whoever sits here where nothing is decided yet."""
        verdict, text = (choice.verdict, choice.text) if choice.verdict else _asked(request, choice.items)
        self._tell(request, {"verdict": verdict, "items": list(choice.items), "text": text})
        if not is_running(self._settings):
            typer.echo("No server is running: it takes effect when `postroom serve` does.", err=True)

    def _tell(self, request: dict[str, Any], decision: dict[str, Any]) -> None:
        where = {"account": self._account, "id": request["id"], "revision": request["revision"]}
        decided = ask(self._settings, "decide", {**where, **decision})
        typer.echo(decided["text"])
        if decided["outcome"] not in GOOD_OUTCOMES:
            raise typer.Exit(FAILED)
        if decided["waiting"] and decided["outcome"] != "half":
            typer.echo(f"Still waiting: {', '.join(map(str, decided['waiting']))}.")


def _asked(request: dict[str, Any], items: tuple[int, ...]) -> tuple[str, str]:
    """The decision of whoever sits at the terminal. Anything but an exact yes approves nothing."""
    question = request["kind"] == "question"
    if not sys.stdin.isatty():
        fix = "answer it with --answer TEXT" if question else "say --yes, or `postroom reject` with --reason"
        raise CliError("nobody is here to be asked", fix, USAGE)
    if question:
        return "answer", str(typer.prompt("Your answer"))
    what = f"Let item {', '.join(map(str, items))} run" if items else "Let it run"
    if not typer.confirm(f"{what}, exactly as shown?", default=False):
        raise CliError("nothing was decided; the request still waits", "", FAILED)
    return "approve", ""
