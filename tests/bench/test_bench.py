"""The measuring itself: the same mail every time, verdicts that can fail, and a row measured on a real server."""

import asyncio
from email import message_from_bytes
from email.policy import compat32
from pathlib import Path

import pytest

from bench import postroom, report
from bench.client import Client, Unexpected
from bench.corpus import NEEDLE, SUBJECT, Corpus
from bench.figure import Compared, Figure, Goal, Sample, percentile
from bench.rows import MAIN, ROWS, Stage, fill


def compared(ours: float, theirs: float | None, goal: Goal, hits: tuple[int, int] = (0, 0)) -> Compared:
    other = None if theirs is None else Sample((theirs,), hits=hits[1])
    return Compared("SEARCH X", "ms", goal, Sample((ours,), hits=hits[0]), other)


def test_the_corpus_is_the_same_every_time_and_is_what_it_says() -> None:
    mails = Corpus().mails(0, 300)
    assert mails == Corpus().mails(0, 300)
    assert Corpus(2).raw(0) != mails[0].raw
    parsed = [message_from_bytes(mail.raw, policy=compat32) for mail in mails]
    assert not any(part.defects for each in parsed for part in each.walk())
    assert {each.get_content_type() for each in parsed} == {"text/plain", "multipart/alternative", "multipart/mixed"}
    texts = [
        b"".join(part.get_payload(decode=True) or b"" for part in each.walk() if not part.is_multipart())  # type: ignore[misc]  # typed as Message | bytes
        for each in parsed
    ]
    assert [number for number, text in enumerate(texts) if NEEDLE.encode() in text] == [7, 107, 207]
    assert any(SUBJECT in str(each["Subject"]) for each in parsed)
    assert 0.6 < sum("\\Seen" in mail.flags for mail in mails) / 300 < 0.8


def test_what_is_said_beside_the_figures_is_kept_where_the_next_run_takes_it_from() -> None:
    """Said in the page alone, it would be gone with the next `make bench`."""
    assert report.PAGE.read_text().endswith(report.NOTES.read_text())


def test_a_goal_is_met_or_missed_or_not_to_be_said() -> None:
    assert compared(1, 2, Goal(ratio=2)).met is True
    assert compared(1.1, 2, Goal(ratio=2)).met is False
    assert compared(1, None, Goal(ratio=2)).met is None
    assert compared(3, None, Goal(most=2)).met is False
    assert compared(1, 2, Goal()).met is None
    assert (Figure("x", 5, 5, "ms").met, Figure("x", 5.1, 5, "ms").met) == (True, False)


def test_servers_that_find_different_mail_are_not_compared_silently() -> None:
    assert "hits differ" not in report.compared_line(compared(1, 2, Goal(ratio=1), hits=(3, 3)))
    assert "**hits differ**: 3 and 4" in report.compared_line(compared(1, 2, Goal(ratio=1), hits=(3, 4)))


def test_a_line_of_the_page_says_the_figure_the_goal_and_the_verdict() -> None:
    assert report.own_line(Figure("Start", 1036.4, 1000, "ms")) == (
        "| Start | 1036 ms | <= 1000 ms | **missed**, 1.0 times the goal |\n"
    )
    assert report.compared_line(compared(4, 2, Goal(ratio=1))) == (
        "| SEARCH X | 4.00 ms | 2.00 ms | 0.50x |  | >= 1x | **missed** |\n"
    )


def test_processor_time_is_compared_only_where_it_can_be_counted() -> None:
    sample = Sample((1.0,))
    assert Compared("x", "ms", Goal(), sample, sample, (100.0, 200.0)).work_ratio == 2
    assert Compared("x", "ms", Goal(), sample, sample, (10.0, 200.0)).work_ratio is None
    assert Compared("x", "ms", Goal(), sample, None, (100.0, 0.0)).work_ratio is None


def test_percentiles() -> None:
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([1], 0.95) == 1


async def test_rows_are_measured_on_a_real_server(tmp_path: Path) -> None:
    corpus = Corpus()
    stage = Stage(corpus, main=60, copies=1, repeats=1, fresh=corpus.mails(900, 902))
    postroom.set_up(tmp_path / "home", postroom.IN_CLEAR + postroom.FREE_PORTS)

    def measure() -> dict[str, Sample | None]:
        with postroom.running(tmp_path / "home") as target:
            fill(stage, target, lambda count: None)
            with Client(target) as client, pytest.raises(Unexpected):
                client.command("SELECT nowhere")
            with Client(target) as client:
                assert b"EXISTS" in client.command(f"SELECT {MAIN}")
            keys = ("flags", "envelope", "fields", "unseen", "text", "store", "append")
            return {row.key: row.measure(stage, target) for row in ROWS if row.key in keys}

    samples = await asyncio.to_thread(measure)
    assert all(sample is not None and min(sample.runs) > 0 for sample in samples.values())
    unseen = [mail for mail in corpus.mails(0, 60) if "\\Seen" not in mail.flags]
    assert (samples["unseen"] or Sample((0,))).hits == len(unseen)
    assert (samples["text"] or Sample((0,))).hits == 1
