"""The page of extensions says what the registry holds, both ways."""

import re
from pathlib import Path

from bridge.imap.registry import EXTENSIONS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "imap-extensions.md"
ROW = re.compile(r"^\| (\S+) \| [^|]*\| (yes|no) \|", re.MULTILINE)
# Clients turn these on, or use them, and then go wrong: never in the default set.
BARRED = {"UTF8=ACCEPT", "COMPRESS=DEFLATE", "UIDONLY", "BINARY", "IMAP4rev2"}


def test_the_page_lists_every_extension_with_its_set() -> None:
    assert dict(ROW.findall(PAGE.read_text())) == {e.name: "yes" if e.default else "no" for e in EXTENSIONS}


def test_what_clients_stumble_over_is_not_in_the_default_set() -> None:
    assert {e.name for e in EXTENSIONS if not e.default} >= BARRED
