"""The manifest of RFC 3501 checked both ways: every row is tested where it says, every claim in a test has its row."""

import re

import pytest

from tests.requirements import manifest
from tests.requirements.manifest import BASE, Row

IDENTIFIER = re.compile(r"[2-9][0-9.]*(-[a-z0-9]+)+|11\.[0-9](-[a-z0-9]+)+")


def rows() -> tuple[Row, ...]:
    return manifest.rows(BASE)


def claims() -> frozenset[tuple[str, str]]:
    return frozenset((found, where) for rfc, found, where in manifest.claims() if rfc == BASE)


def test_rows_are_well_formed_and_unique() -> None:
    identifiers = [row.id for row in rows()]
    assert len(identifiers) == len(set(identifiers)) > 100
    assert [row.id for row in rows() if not IDENTIFIER.fullmatch(row.id)] == []
    assert [row.id for row in rows() if not row.demand.endswith(".")] == []
    assert all(len(row.reason) > 10 for row in rows() if row.reason is not None)


@pytest.mark.parametrize("row", [row for row in rows() if row.reason is None], ids=lambda row: row.id)
def test_a_row_is_tested_where_it_says(row: Row) -> None:
    assert (row.id, row.where) in claims()


def test_every_claim_has_its_row() -> None:
    known = {(row.id, row.where) for row in rows()}
    assert claims() - known == set()
