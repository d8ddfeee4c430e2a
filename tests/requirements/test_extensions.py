"""The manifests of the extensions' RFCs, checked both ways as that of RFC 3501 is."""

import re

import pytest

from tests.requirements.manifest import BASE, FOLDER, Row, claims, rows

RFCS = sorted(path.stem.removeprefix("rfc") for path in FOLDER.glob("rfc*.txt") if path.stem != f"rfc{BASE}")
EXPECTED = {
    "2177",
    "4315",
    "4731",
    "5182",
    "5256",
    "5258",
    "5267",
    "5819",
    "6154",
    "6851",
    "7162",
    "9051",
    "5465",
    "5802",
    "7677",
    "9738",
}
IDENTIFIER = re.compile(r"(\d+|[A-Z])(\.\d+)*(-[a-z0-9]+)+")
ROWS = [row for rfc in RFCS for row in rows(rfc)]


def test_every_rfc_has_its_manifest() -> None:
    assert set(RFCS) >= EXPECTED
    assert all(len(rows(rfc)) >= 4 for rfc in RFCS)


def test_rows_are_well_formed_and_unique() -> None:
    assert len({(row.rfc, row.id) for row in ROWS}) == len(ROWS)
    assert [row.id for row in ROWS if not IDENTIFIER.fullmatch(row.id)] == []
    assert [row.id for row in ROWS if not row.demand.endswith(".")] == []
    assert all(len(row.reason) > 10 for row in ROWS if row.reason is not None)


@pytest.mark.parametrize("row", [row for row in ROWS if row.reason is None], ids=lambda row: f"{row.rfc}/{row.id}")
def test_a_row_is_tested_where_it_says(row: Row) -> None:
    assert (row.rfc, row.id, row.where) in claims()


def test_every_claim_has_its_row() -> None:
    known = {(row.rfc, row.id, row.where) for row in ROWS}
    assert {claim for claim in claims() if claim[0] != BASE} - known == set()
