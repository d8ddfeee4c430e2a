"""The measuring of growth: a small run on a real server, verdicts that can fail, and a picture that can be read."""

import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import pytest

from bench import growth, plot, postroom, process
from bench.client import Client
from bench.growth import BOX, LINES, NEEDLE, Growth, Line

SVG = "{http://www.w3.org/2000/svg}"


def grown(flat: bool, *millis: float, sizes: tuple[int, ...] = (1_000, 20_000, 200_000)) -> Growth:
    return Growth(Line("X", flat, lambda client, target: ()), sizes, millis)


def test_flat_and_in_proportion_are_verdicts_that_can_fail() -> None:
    assert grown(True, 1.0, 1.5, 3.0).met
    assert not grown(True, 1.0, 1.0, 3.1).met
    assert grown(False, 9.0, 10.0, 190.0).met  # a tenth of the messages, and less than twice as much for each
    assert not grown(False, 9.0, 10.0, 210.0).met


def test_the_part_of_the_page_takes_the_place_of_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, notes = tmp_path / "performance.md", tmp_path / "notes.md"
    notes.write_text("## Where the time goes\n\nnotes\n")
    page.write_text("# Performance\n\ntables\n\n" + notes.read_text())
    for name, path in (("PAGE", page), ("NOTES", notes), ("GROWTH", tmp_path / "growth.txt")):
        monkeypatch.setattr(growth, name, path)
    monkeypatch.setattr(growth, "PICTURE", tmp_path / "growth.svg")
    growth.write([grown(True, 1, 2, 3), grown(False, 1, 2, 99)], "a machine")
    growth.write([grown(True, 1, 2, 4), grown(False, 1, 2, 99)], "a machine")
    text = page.read_text()
    assert text.startswith("# Performance\n\ntables\n\n## How cost grows\n")
    assert text.endswith(notes.read_text())
    assert text.count(growth.TITLE) == 1
    assert "| X | 1.00 | 2.00 | 4.00 | 4.00x | **not flat** |" in text
    assert "| X | 1.00 | 2.00 | 99.0 | 99.0x | **not in proportion** |" in text
    assert (tmp_path / "growth.txt").read_text() in text


def test_the_picture_shows_every_line_inside_it_and_no_label_on_another() -> None:
    curves = [
        plot.Curve(f"<line {n}>", (1_000, 20_000, 200_000), (0.1 + n / 100, 1.0, 5.0), n % 2 == 0) for n in range(9)
    ]
    text = plot.svg(curves, "messages", "milliseconds")
    assert text == plot.svg(curves, "messages", "milliseconds")
    root = ElementTree.fromstring(text)
    labels = [each for each in root.iter(f"{SVG}text") if (each.text or "").startswith("<line")]
    heights = sorted(float(each.get("y", "")) for each in labels)
    assert len(heights) == 9
    assert all(below - above >= plot.LABEL_GAP - 0.1 for above, below in pairwise(heights))
    assert 0 < heights[0] < heights[-1] < plot.HEIGHT
    assert sum(each.get("stroke-dasharray") is not None for each in root.iter(f"{SVG}path")) == 5


def test_all_lines_are_measured_on_a_real_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "UNIQUE", 500)
    monkeypatch.setattr(process, "known", False)  # the index of words need not be whole
    found = growth.measure(tmp_path, (1_200,), lambda what: None)
    assert [each.line for each in found] == list(LINES)
    assert all(value > 0 for each in found for value in each.millis)
    with postroom.running(tmp_path / "growth-1200") as target, Client(target) as client:
        said = client.command(f"SELECT {BOX}")
        assert b"* %d EXISTS" % (1_200 + growth.RUNS) in said  # with what push has appended
        assert len(client.command(f"UID SEARCH TEXT {NEEDLE}").split(b"\r\n")[0].split()) == 2 + 12
