"""What the demo shows: one line a step with its time, and a mark for every check.

The rule: with colours on a terminal, the same words without anywhere else.
"""

import re
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

FONT_FACE: Final = re.compile(r"\s*@font-face \{[^}]*\}")
WIDTH: Final = 116
"""Columns of the picture."""


class Timeline:
    """Prints as things happen, and remembers which checks failed. `recording` keeps all for a picture."""

    def __init__(self, *, recording: bool = False, console: Console | None = None) -> None:
        self._screen = console or Console(
            highlight=False, record=recording, width=WIDTH if recording else None, force_terminal=recording or None
        )
        self._started = time.monotonic()
        self.checks: list[tuple[str, bool]] = []

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._started

    def title(self, text: str) -> None:
        """The first line, or one between parts."""
        self._screen.print(Text(text, style="bold"))

    def step(self, text: str, detail: str = "") -> None:
        """Something happened."""
        self._print(Text.assemble((f"{self.seconds:6.1f} s  ", "dim"), text, (f"  {detail}" if detail else "", "cyan")))

    def quote(self, lines: list[str]) -> None:
        """Lines of a mail, set in."""
        for line in lines:
            self._print(Text(f"            {line}", style="dim"))

    def check(self, name: str, held: bool, otherwise: str = "") -> bool:
        """A check, and what was found where it did not hold."""
        self.checks.append((name, held))
        mark = ("          ok  ", "green") if held else ("      FAILED  ", "bold red")
        self._print(Text.assemble(mark, name if held or not otherwise else f"{name}: {otherwise}"), cut=held)
        return held

    def plain(self, text: str) -> None:
        """A line as it stands."""
        self._print(Text(text), cut=False)

    def _print(self, line: Text, *, cut: bool = True) -> None:
        """One line stays one line: on a terminal it is cut at the edge, elsewhere it is as long as it is."""
        if cut and self._screen.is_terminal:
            self._screen.print(line, no_wrap=True, overflow="ellipsis")
        else:
            self._screen.print(line, soft_wrap=True)

    @property
    def held(self) -> bool:
        """Whether every check so far held, and there was one."""
        return bool(self.checks) and all(held for _, held in self.checks)

    def close(self) -> None:
        """The last line."""
        failed = [name for name, held in self.checks if not held]
        if failed or not self.checks:
            self._screen.print(Text(f"\nFailed after {self.seconds:.1f} s: {'; '.join(failed)}", style="bold red"))
        else:
            text = f"\nAll {len(self.checks)} checks held, in {self.seconds:.1f} s."
            self._screen.print(Text(text, style="bold green"))

    def save(self, path: Path) -> None:
        """Write what was shown as an SVG picture, in whatever fixed-width font there is: nothing is fetched."""
        svg = self._screen.export_svg(title="postroom demo")
        path.write_text(FONT_FACE.sub("", svg).replace("Fira Code", "ui-monospace"), encoding="utf-8")
