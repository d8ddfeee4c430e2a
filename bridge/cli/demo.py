"""`postroom demo`: the main job from end to end, in one command.

The rule: it uses nothing that a user's own server and mail client would not use.
"""

from pathlib import Path
from typing import Annotated

import typer

from bridge.cli.common import FAILED


def demo(
    keep: Annotated[
        bool | None,
        typer.Option("--keep/--no-keep", help="Stay up afterwards, to be looked at.", show_default="on a terminal"),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Also write what is shown as an SVG file.", hidden=True)
    ] = None,
) -> None:
    """Show the main job on this machine: no key, no network; exit code 0 when every check held."""
    import asyncio
    import sys

    from bridge.demo.play import run
    from bridge.demo.timeline import Timeline

    stay = sys.stdout.isatty() if keep is None else keep
    timeline = Timeline(recording=picture is not None)
    held = asyncio.run(run(timeline, keep=stay))
    if not held:
        raise typer.Exit(FAILED)
    if picture is not None:
        timeline.save(picture)
