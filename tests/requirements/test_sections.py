"""The manifests held complete, where an RFC was gone through: every section is accounted for, and has its rows.

`sections-NNNN.txt` names every section of an RFC with how many of its statements bind a server, counted by reading.
"""

import re
from collections import Counter
from functools import cache

import pytest

from tests.requirements.manifest import FOLDER, rows

RFCS = sorted(path.stem.removeprefix("sections-") for path in FOLDER.glob("sections-*.txt"))
WHOLE = {"3501", "9051", "7162", "4315", "6851", "5267", "5256", "5258", "5819", "6154", "2177", "4731", "5182", "9738"}
SECTION = re.compile(r"(\d+|[A-Z])(\.\d+)*")


@cache
def sections(rfc: str) -> dict[str, tuple[int, str]]:
    """Section to (number of demands, what it is if there are none)."""
    lines = (FOLDER / f"sections-{rfc}.txt").read_text().splitlines()
    parts = [[part.strip() for part in line.split("|")] for line in lines if line and not line.startswith("#")]
    found = {part[0]: (int(part[1]), part[2] if len(part) > 2 else "") for part in parts}
    assert len(found) == len(parts)
    return found


def before(section: str) -> list[str]:
    """What must be listed where a section is: the one it is part of, and the one in front of it."""
    above, _, last = section.rpartition(".")
    needed = [above] if above else []
    if last.isdigit():
        needed += [f"{above}.{int(last) - 1}".lstrip(".")] if int(last) > 1 else []
    elif last > "A":
        needed.append(chr(ord(last) - 1))
    return needed


def test_the_sections_are_listed_of_each_rfc_that_was_gone_through() -> None:
    assert set(RFCS) >= WHOLE


@pytest.mark.parametrize("rfc", RFCS)
def test_the_list_of_sections_has_no_gap(rfc: str) -> None:
    listed = sections(rfc)
    assert len(listed) > (80 if rfc in ("3501", "9051") else 3)
    assert [name for name in listed if not SECTION.fullmatch(name)] == []
    assert [name for name in listed if not set(before(name)) <= listed.keys()] == []


@pytest.mark.parametrize("rfc", RFCS)
def test_a_section_without_demands_says_what_it_is_instead(rfc: str) -> None:
    assert [name for name, (number, note) in sections(rfc).items() if (number == 0) != bool(note)] == []


@pytest.mark.parametrize("rfc", RFCS)
def test_every_demand_of_every_section_has_its_row(rfc: str) -> None:
    have = Counter(row.id.partition("-")[0] for row in rows(rfc))
    short = {name: (have[name], number) for name, (number, _) in sections(rfc).items() if have[name] < number}
    assert short == {}


@pytest.mark.parametrize("rfc", RFCS)
def test_every_row_belongs_to_a_section(rfc: str) -> None:
    assert {row.id.partition("-")[0] for row in rows(rfc)} - sections(rfc).keys() == set()
