"""Writes docs/performance.md: every figure with its goal and whether it holds.

The rule: only what was measured in this run is written, with the machine and the day, and what falls short is said so.
"""

import os
import platform
import sqlite3
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bench.figure import Compared, Figure, Sample

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
NOTES: Final = Path(__file__).resolve().parent / "notes.md"
GROWTH: Final = Path(__file__).resolve().parent / "growth.txt"  # of the last run that measured it; see `growth`

_HEAD: Final = """\
# Performance

Measured on {day} with `make bench` on: {machine}.
Load when it ended: {load:.1f} on {cores} cores.
Other work on the machine lengthens wall times: at a load far above the cores severalfold, and those of longer work
more. Both servers are measured in turn, row by row, by the same client, so ratios carry less of it than milliseconds
do, and ratios of processor time least. Medians of several warm runs, unless said otherwise.

To repeat it: `make bench` (about ten minutes; `ARGS=--quick` for a fifth of the mail, `ARGS=--full` for a longer rest
before memory is read, `ARGS="--only flags,select"` for some rows, which prints and writes nothing, `ARGS=--growth` for
the part on growth alone). The comparison needs `apt-get install dovecot-imapd`.

"""

_OWN: Final = """\
## Postroom itself

A real `postroom serve` as a process of its own, looked at from outside.

| What | Measured | Goal | Verdict |
|---|---:|---:|---|
"""

_COMPARED: Final = """\
## Beside Dovecot

Dovecot {version} (mdbox, its defaults) and Postroom (its defaults, login without TLS allowed on loopback), {main:,}
messages ({size:.0f} MB) unless a row says otherwise, in one run. The ratio is Dovecot's time (or memory) over
Postroom's: above 1, Postroom needs less. CPU is the same ratio of the processor time that the servers took for the
row, as the kernel counts it; where both took too little to be counted it is left out. It says more on a busy machine.

| What | Postroom | Dovecot | Ratio | CPU | Goal | Verdict |
|---|---:|---:|---:|---:|---:|---|
"""


def write(own: Sequence[Figure], rows: Sequence[Compared], version: str | None, main: int, size: float) -> Path:
    """The page; `size` in MB. Without `version` there was no other server."""
    text = _HEAD.format(day=f"{datetime.now(UTC):%d %B %Y}", machine=machine(), load=os.getloadavg()[0], cores=cores())
    text += _OWN + "".join(map(own_line, own)) + "\n"
    if version is not None:
        text += _COMPARED.format(version=version, main=main, size=size) + "".join(map(compared_line, rows)) + "\n"
    text += GROWTH.read_text() + NOTES.read_text()
    PAGE.write_text(text)
    return PAGE


def own_line(figure: Figure) -> str:
    return (
        f"| {figure.name} | {number(figure.value)} {figure.unit} | <= {figure.goal:g} {figure.unit} "
        f"| {'holds' if figure.met else f'**missed**, {1 / figure.margin:.1f} times the goal'} |\n"
    )


def compared_line(row: Compared) -> str:
    ratio = "" if row.ratio is None else f"{number(row.ratio)}x"
    work = "" if row.work_ratio is None else f"{number(row.work_ratio)}x"
    doubt = "" if row.agree else f"; **hits differ**: {_hits(row.ours)} and {_hits(row.theirs)}"
    return (
        f"| {row.title} | {_value(row.ours, row.unit)} | {_value(row.theirs, row.unit)} | {ratio} | {work} "
        f"| {row.goal} | {verdict(row)}{doubt} |\n"
    )


def verdict(row: Compared) -> str:
    """In words, for a table."""
    if row.ours is None:
        return "not offered"
    if row.met is None:
        return ""
    return "holds" if row.met else "**missed**"


def number(value: float) -> str:
    """Three figures are as much as a noisy machine can say."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def machine() -> str:
    """What it ran on, in a line."""
    versions = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {ssl.OPENSSL_VERSION}"
    return f"{platform.system()} {platform.machine()}, {_processor()}, {cores()} cores; {versions}"


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _value(sample: Sample | None, unit: str) -> str:
    if sample is None:
        return ""
    first = sample.first if sample.first is not None and sample.first > 2 * sample.median else None
    return f"{number(sample.median)} {unit}" + (f" (first {number(first)})" if first is not None else "")


def _hits(sample: Sample | None) -> str:
    return "none" if sample is None else str(sample.hits)
