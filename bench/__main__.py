"""`make bench`: Postroom's own figures, then Postroom beside Dovecot; the page docs/performance.md.

The rule: the exit code says whether every goal that could be measured holds. With `--only` nothing is written.
"""

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench import dovecot, growth, own, postroom, process, report
from bench.client import Target, Unexpected
from bench.corpus import Corpus
from bench.figure import Compared, Figure, Sample
from bench.rows import APPENDS, ROWS, Row, Stage, fill

QUICK: Final = 2_000
MAIN: Final = 10_000
REST_SECONDS: Final = 20.0
FULL_REST_SECONDS: Final = 60.0

console = Console(highlight=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 when a goal is missed."""
    options = _options(arguments)
    if options.growth:
        return _growth()
    chosen = [row for row in ROWS if options.only is None or row.key in options.only]
    stage = _stage(QUICK if options.quick else MAIN, options.repeats)
    with tempfile.TemporaryDirectory(prefix="postroom-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # Dovecot's processes must get through
        figures = [] if options.only else _own(folder, FULL_REST_SECONDS if options.full else REST_SECONDS)
        compared = _compare(folder, stage, chosen) if not options.own else []
    if not options.only and not options.own:
        binary = dovecot.program()
        size = sum(len(mail.raw) for mail in stage.corpus.mails(0, 500)) / 500 * stage.main / 1e6
        page = report.write(figures, compared, dovecot.version(binary) if binary else None, stage.main, size)
        console.print(f"wrote {page}")
    held = all(figure.met for figure in figures) and all(row.met is not False for row in compared)
    return 0 if held else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Postroom.")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} messages in place of {MAIN}")
    parser.add_argument("--full", action="store_true", help="rest a minute before memory is read")
    parser.add_argument("--own", action="store_true", help="Postroom's own figures only; nothing is written")
    parser.add_argument("--only", type=lambda text: text.split(","), help="these rows only; nothing is written")
    parser.add_argument("--growth", action="store_true", help="only how cost grows, for its part of the page")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each row")
    return parser.parse_args(arguments)


def _stage(main: int, repeats: int) -> Stage:
    corpus = Corpus()
    return Stage(corpus, main, repeats=repeats, fresh=corpus.mails(900_000, 900_000 + APPENDS))


def _own(folder: Path, rest: float) -> list[Figure]:
    figures = []
    with _progress() as progress:
        job = progress.add_task("starting", total=None)
        for figure in own.measure(folder, rest, lambda what: progress.update(job, description=what)):
            figures.append(figure)
            progress.console.print(_spoken(figure), soft_wrap=True)
    return figures


def _growth() -> int:
    with tempfile.TemporaryDirectory(prefix="postroom-bench-") as name, _progress() as progress:
        job = progress.add_task("starting", total=None)
        grown = growth.measure(Path(name), growth.SIZES, lambda what: progress.update(job, description=what))
    for each in grown:
        console.print(f"{each.line.title:16} {[report.number(value) for value in each.millis]} {each.met}")
    console.print(f"wrote {growth.write(grown, report.machine())}")
    return 0 if all(each.met for each in grown) else 1


def _compare(folder: Path, stage: Stage, rows: Sequence[Row]) -> list[Compared]:
    binary = dovecot.program()
    if binary is None:
        console.print(dovecot.MISSING)
    with ExitStack() as stack:
        home = folder / "postroom"
        postroom.set_up(home, postroom.IN_CLEAR + postroom.FREE_PORTS)
        targets = [stack.enter_context(postroom.running(home))]
        if binary is not None:
            targets.append(stack.enter_context(dovecot.running(folder / "dovecot", binary)))
        return _measured(stage, targets, rows)


def _measured(stage: Stage, targets: Sequence[Target], rows: Sequence[Row]) -> list[Compared]:
    found = []
    with _progress() as progress:
        job = progress.add_task("filling", total=None)
        for target in targets:
            progress.update(job, description=f"filling {target.name} with {stage.main} messages")
            fill(stage, target, lambda count: None)
            if process.known:
                progress.update(job, description=f"waiting until {target.name} is quiet")
                process.quiet(target.pid)
        for row in rows:
            progress.update(job, description=row.title)
            (ours, spent), *others = [_sample(row, stage, target) for target in targets]
            theirs, their_spent = others[0] if others else (None, 0.0)
            both = Compared(row.title, row.unit, row.goal, ours, theirs, (spent, their_spent))
            found.append(both)
            progress.console.print(_beside(both), soft_wrap=True)
    return found


def _sample(row: Row, stage: Stage, target: Target) -> tuple[Sample | None, float]:
    """What a server yields, and its processor time; what it refuses to do is told and counts as not offered."""
    before = process.spent(target.pid) if process.known else 0.0
    try:
        sample = row.measure(stage, target)
    except (Unexpected, OSError) as error:
        console.print(f"  {target.name}, {row.title}: {error}")
        return None, 0.0
    return sample, process.spent(target.pid) - before if process.known else 0.0


def _progress() -> Progress:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


def _spoken(figure: Figure) -> str:
    mark = "[green]holds[/]" if figure.met else "[red]missed[/]"
    return f"{figure.name:62} {report.number(figure.value):>7} {figure.unit} (<= {figure.goal:g}) {mark}"


def _beside(row: Compared) -> str:
    ours, theirs = (f"{report.number(each.median)} {row.unit}" if each else "-" for each in (row.ours, row.theirs))
    ratio = "" if row.ratio is None else f"{report.number(row.ratio)}x"
    work = "" if row.work_ratio is None else f"cpu {report.number(row.work_ratio)}x"
    colour = {True: "[green]", False: "[red]", None: "[default]"}[row.met]
    doubt = "" if row.agree else "; hits differ"
    return (
        f"{row.title:60} {ours:>10} {theirs:>10} {ratio:>7} {work:>9}  ({row.goal}) "
        f"{colour}{report.verdict(row).strip('*')}[/]{doubt}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
