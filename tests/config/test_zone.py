"""The time zone: what is set, what the machine says, and what is no zone."""

import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from config.errors import ConfigError
from config.load import keep_time_of, load
from config.settings import Settings
from config.zone import machine_zone, zone


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """The process's zone, put back afterwards."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield monkeypatch
    monkeypatch.undo()
    time.tzset()


def test_the_machines_zone_is_taken_from_tz(clock: pytest.MonkeyPatch) -> None:
    clock.setenv("TZ", "Asia/Tehran")
    assert machine_zone().key == "Asia/Tehran"
    assert Settings(Path("/x")).zone().key == "Asia/Tehran"


@pytest.mark.parametrize("value", ["No/Where", "../../etc/passwd", "XYZ-3"])
def test_what_is_no_name_of_a_zone_is_utc(clock: pytest.MonkeyPatch, value: str) -> None:
    clock.setenv("TZ", value)
    assert machine_zone().key == "UTC"


def test_the_setting_wins_and_is_checked(tmp_path: Path) -> None:
    (tmp_path / "postroom.toml").write_text('timezone = "Europe/Berlin"\n')
    assert load(home=tmp_path, environ={}).zone().key == "Europe/Berlin"
    with pytest.raises(ConfigError, match="'Europe/Bärlin' is not a time zone"):
        load(home=tmp_path, environ={"POSTROOM_TIMEZONE": "Europe/Bärlin"})


@pytest.mark.parametrize("name", ["", "Europe", "/etc/localtime", "x" * 400, "a\0b", "Europe/Berlin/.."])
def test_names_that_are_none(name: str) -> None:
    assert zone(name) is None


def test_a_process_keeps_the_time_that_is_set(clock: pytest.MonkeyPatch) -> None:
    keep_time_of(Settings(Path("/x"), timezone="Asia/Kolkata"))
    assert datetime.fromtimestamp(0).astimezone().strftime("%H:%M") == "05:30"
    keep_time_of(Settings(Path("/x")))
    assert datetime.fromtimestamp(0).astimezone().strftime("%H:%M") == "05:30"
