"""`postroom explain`: how mails in files would be read, and why.

The rule: it needs no data folder and no server, and runs the very reading that decides.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bridge.cli.common import FAILED, USAGE, CliError

if TYPE_CHECKING:
    from bridge.post.reading.model import Languages


def explain(
    files: Annotated[list[Path], typer.Argument(help="Mails as files (RFC 5322).")],
    sent: Annotated[
        Path | None, typer.Option("--sent", help="JSON of the mails that were sent: what a reply may answer.")
    ] = None,
    languages: Annotated[
        str | None,
        typer.Option("--languages", help='Languages that decide, between commas, or "all".', show_default="en"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help='One JSON line a file: "file", "new_text", "decision", "auto", "rule", ...')
    ] = False,
) -> None:
    """Show how replies would be read: the new text, the decision, and the rule that found it.

    A file that cannot be read gives exit code 1.
    """
    from bridge.post.reading.explain import UnreadableSent, explain_files

    chosen = _languages(languages)
    try:
        lines = explain_files(files, sent, chosen, as_json)
    except UnreadableSent as error:
        raise CliError(str(error), "name the JSON file of the mails that were sent", USAGE) from None
    for line in lines:
        typer.echo(line)
    if not all(file.is_file() for file in files):
        raise typer.Exit(FAILED)


def _languages(given: str | None) -> "Languages":
    if given is None:
        return ("en",)
    from bridge.post.reading.vocabulary import known_languages

    names = tuple(name.strip().lower() for name in given.split(",") if name.strip())
    strange = [name for name in names if name != "all" and name not in known_languages()]
    if strange:
        fix = f'write "all", or some of {", ".join(sorted(known_languages()))}'
        raise CliError(f"no words are known of the language {strange[0]!r}", fix, USAGE)
    return "all" if "all" in names else names
