"""A few seconds of fuzz with every run (`--fuzz-seconds` for more), and proof that it would notice."""

import re

import pytest

from bridge.imap.wire import framer
from tests.wire import fuzz


def test_fuzz(request: pytest.FixtureRequest) -> None:
    seconds = request.config.getoption("--fuzz-seconds")
    assert fuzz.run(seconds, seed=20_261_130) > 0


PLANTED: dict[str, tuple[str, re.Pattern[bytes]]] = {
    "a literal within an open quoted string": ("QUOTES_CLOSED", re.compile(rb".*", re.DOTALL)),
    "no literals at all": ("LITERAL_END", re.compile(rb"(?!)()()()")),
    "non-synchronising literals unknown": ("LITERAL_END", re.compile(rb"(~?)\{([0-9]{1,18})()\}\Z")),
    "a literal anywhere in the line": ("LITERAL_END", re.compile(rb"(~?)\{([0-9]{1,18})(\+?)\}")),
    "unknown lengths passed over": ("BROKEN_LITERAL_END", re.compile(rb"(?!)")),
    "a NUL let through": ("LITERAL_MARK", re.compile(rb"")),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_the_fuzz_notices_a_planted_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, wrong = PLANTED[fault]
    monkeypatch.setattr(framer, name, wrong if name != "LITERAL_MARK" else b"\x00\x00")
    with pytest.raises(AssertionError):
        fuzz.run(60, seed=0)
