"""The second approver in the settings: somebody whom a request reaches, or the file is refused."""

from pathlib import Path

import pytest

from config.errors import ConfigError
from config.load import load
from tests.config.test_mailboxes import written


@pytest.mark.parametrize("second", ["bo", "bo@postroom.internal"])
def test_an_account_here_may_be_the_second(tmp_path: Path, second: str) -> None:
    made = load(home=written(tmp_path, f'[approvals]\ntwo = ["send_mail"]\nsecond = ["{second}"]\n'), environ={})
    assert made.two_of("assistant") == (("send_mail",), (second,))


@pytest.mark.parametrize(
    ("text", "key", "told"),
    [
        ('two = ["send_mail"]', "approvals.two", "nobody who is the second"),
        ('two = ["send_mail"]\nsecond = ["maya@example.org"]', "approvals.second", "is an outside address"),
        ('two = ["send_mail"]\nsecond = ["bo@@x"]', "approvals.second", "is not an address"),
    ],
)
def test_who_cannot_be_asked_is_refused(tmp_path: Path, text: str, key: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(home=written(tmp_path, f"[approvals]\n{text}\n"), environ={})
    faults = {fault.key: fault for fault in caught.value.faults}  # every agent under the rule has one of its own
    assert told in faults[key].message
    assert faults[key].fix
