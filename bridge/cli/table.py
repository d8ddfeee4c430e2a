"""Tables and times for people, with rich; imported only when something is shown.

The rule: what came from a mail is data: its control characters are made visible and its brackets mean nothing.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from config.redact import escape


def console() -> Console:
    """Where tables go: standard output, without colours when it is no terminal."""
    return Console(highlight=False, soft_wrap=False)


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, empty: str = "") -> None:
    """Print a table, or `empty` when there are no rows."""
    listed = [list(row) for row in rows]
    screen = console()
    if not listed:
        screen.print(Text(f"{title}: {empty or 'nothing'}" if title else empty))
        return
    table = Table(title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold", header_style="dim")
    for row in listed:
        table.add_row(*(cell(each) for each in row))
    screen.print(table)


def cell(text: str) -> Text:
    """A cell of somebody else's text."""
    return Text(escape(text))


def moment(millis: int | None) -> str:
    """A time in this machine's zone, to the minute."""
    if millis is None:
        return "never"
    return f"{datetime.fromtimestamp(millis / 1000).astimezone():%a %d %b %Y, %H:%M}"
