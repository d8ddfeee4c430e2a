"""The parts of the demo model: sentences, summaries, tables, times, and that no text can break or stall it."""

import time
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.llm import ModelRequest, UserMessage
from agents.models.demo import DemoModel
from agents.models.demo.files import meant_files, missing_files
from agents.models.demo.summarise import describe_table, split_sentences, summarise
from agents.models.demo.text import addresses, clauses, is_german, strip_letter
from agents.models.demo.times import read_due
from agents.models.demo.understand import revise, understand

NOW = datetime(2026, 11, 30, 9, 12)  # a Monday  # noqa: DTZ001  # wall time without a zone is what is read here


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Lee met Mr. Ray at 5 p.m. on Friday. They spoke.", 2),
        ("We paid 1.5 million. It was e.g. too much.", 2),
        ("Am 3. Mai kam z.B. Herr Dr. Berg. Er blieb.", 2),
        ("no end", 1),
        ("", 0),
        ("Wait... What? Yes.", 3),
    ],
)
def test_sentences(text: str, count: int) -> None:
    assert len(split_sentences(text)) == count


def test_a_summary_keeps_figures_order_and_words() -> None:
    text = (
        "Harbour works\n\nThe quay was built in 1911. It is long. The quay will be repaired for 3.2 million euro. "
        "People like the view. The works on the quay begin in March. Nothing else was said."
    )
    chosen = summarise(text, 3)
    assert chosen == sorted(chosen, key=text.index)
    assert "The quay will be repaired for 3.2 million euro." in chosen
    assert "It is long." not in chosen


def test_a_summary_does_not_say_the_same_twice() -> None:
    same = "The ferry sails at seven in the morning."
    text = f"{same} {same} {same} Tickets cost nine euro. Dogs travel free. The last boat leaves at ten."
    assert summarise(text, 3).count(same) == 1


def test_list_items_and_headings() -> None:
    text = "# Plan\n\nTo do:\n\n- Paint the door red\n- Call the plumber about the leaking tap\n* [ ] Order 40 bricks\n"
    chosen = summarise(text, 5)
    assert chosen
    assert all(not line.startswith(("-", "*", "#", "[")) for line in chosen)
    assert "Plan" not in chosen


@pytest.mark.parametrize("text", ["", "   \n", "word", "?", "- \n- ", "a,b\n", "\0\0"])
def test_next_to_nothing(text: str) -> None:
    assert isinstance(summarise(text), list)


def test_a_table_is_told_in_figures() -> None:
    facts = describe_table("name;litres;when\nann;2.5;May\nbob;4;June\ncy;1;July\n")
    assert facts[0] == "A table of 3 rows with the columns name, litres, when."
    assert facts[1] == "litres: from 1 to 4, sum 7.5."
    assert "name: ann, litres: 2.5, when: May" in facts
    assert (
        describe_table("Dear Ann, I write to you, at last.\nThe boat, as you know, sank.\nYours, Bob, with love") == []
    )


@pytest.mark.parametrize(
    ("said", "at", "every", "what"),
    [
        ("Remind me tomorrow at 9 to call Bob", "2026-12-01 09:00", "", "Call Bob"),
        ("remind me in two hours to water the plants", "2026-11-30 11:12", "", "Water the plants"),
        ("Please remind me at 5 pm about the cake", "2026-11-30 17:00", "", "The cake"),
        ("remind me at 8 to run", "2026-12-01 08:00", "", "Run"),
        ("Remind me on Friday to pay the rent", "2026-12-04 09:00", "", "Pay the rent"),
        ("Remind me on Monday at 8:30 to sign", "2026-12-07 08:30", "", "Sign"),
        ("remind me next week about the tax", "2026-12-07 09:00", "", "The tax"),
        ("Remind me on 2026-12-24 at 18:00 to light the candles", "2026-12-24 18:00", "", "Light the candles"),
        ("remind me on 24.12.2026 to sing", "2026-12-24 09:00", "", "Sing"),
        ("Every weekday at 8 remind me to stretch", "2026-12-01 08:00", "weekday", "Stretch"),
        ("remind me every Tuesday at noon of the market", "2026-12-01 12:00", "week", "The market"),
        ("Remind me every day at 7 to take the pill", "2026-12-01 07:00", "day", "Take the pill"),
        ("Ping me in 30 minutes", "2026-11-30 09:42", "", ""),
        ("Erinnere mich übermorgen um 14 Uhr an den Zahnarzt", "2026-12-02 14:00", "", "Den Zahnarzt"),
        ("erinnere mich jeden Montag um 8 an die Tonne", "2026-12-07 08:00", "week", "Die Tonne"),
        ("Erinnere mich in drei Tagen, dass Eva kommt", "2026-12-03 09:12", "", "Eva kommt"),
    ],
)
def test_when(said: str, at: str, every: str, what: str) -> None:
    due = read_due(said, NOW)
    assert due is not None
    assert (f"{due.at:%Y-%m-%d %H:%M}", due.every, due.what) == (at, every, what)


@pytest.mark.parametrize("said", ["remind me to call mum", "erinnere mich", "remind me of the 3 pigs", ""])
def test_no_time_is_made_up(said: str) -> None:
    assert read_due(said, NOW) is None


def test_letters_are_stripped_of_what_is_not_the_wish() -> None:
    assert strip_letter("Hi Assistant,\n\ndo it.\n\nThanks a lot\nAda Lovelace") == "do it."
    assert strip_letter("do it\n-- \nAda\nLong signature") == "do it"
    assert (
        strip_letter("Sehr geehrte Damen,\nbitte zusammenfassen.\nMit freundlichen Grüßen\nAda")
        == "bitte zusammenfassen."
    )
    assert strip_letter("Thanks for the note, it was good.") == "Thanks for the note, it was good."


def test_clauses_are_cut_before_instructions_only() -> None:
    assert clauses("Summarise salt and pepper, and then send it to a@b.example") == [
        "Summarise salt and pepper",
        "send it to a@b.example",
    ]
    assert clauses("tell Ann and Bob") == ["tell Ann and Bob"]


def test_addresses_as_people_write_them() -> None:
    text = "To <ann@x.example>, bob.lee+tag@y.example; (cy@z.example). mailto:dee@w.example! not@an nor @this, "
    text += "a@b.example."
    assert [address for _, _, address in addresses(text)] == [
        "ann@x.example", "bob.lee+tag@y.example", "cy@z.example", "dee@w.example", "a@b.example",
    ]  # packed, to be seen at a glance  # fmt: skip


def test_files_by_name() -> None:
    names = ["Q3_report.pdf", "notes.txt", "prices.csv"]
    assert meant_files("the q3 report please", names) == ("Q3_report.pdf",)
    assert meant_files("all but not notes.txt", names) == ("Q3_report.pdf", "prices.csv")
    assert meant_files("the attached files", names) == ()
    assert missing_files("read budget.xlsx and notes.txt for a@b.md", names) == ("budget.xlsx",)


def test_languages() -> None:
    assert is_german("Bitte fasse das zusammen")
    assert not is_german("Please sum this up for Frau Müller")


WILD = st.text(
    st.sampled_from(list("abc @.,:;!?\n\t\"'“”„-*#()<>[]0123456789äß")) | st.characters(codec="utf-8"), max_size=400
)


@settings(max_examples=300, deadline=None)
@given(WILD)
def test_any_text_is_read(text: str) -> None:
    understand(text, ["a.txt"])
    revise(text)
    read_due(text, NOW)
    assert all(
        line in " ".join(text.split()) or describe_table(text)
        for line in map(" ".join, map(str.split, summarise(text)))
    )


@settings(max_examples=60, deadline=None)
@given(WILD, WILD)
async def test_any_letter_is_answered(words: str, text: str) -> None:
    reply = await DemoModel().complete(ModelRequest("", (UserMessage(text, words),), (), 100, "demo"))
    assert reply.text
    assert reply.calls == ()


LONG = {
    "no ends": "word " * 60_000,
    "addresses": "send it to a@b.example, " * 10_000,
    "names": "tell Ann and Bob and Cy " * 10_000,
    "commas": "tell a, b, c, " * 20_000,
    "colons": "write to x: " * 20_000,
    "quotes": '"' * 100_000,
    "ats": "@" * 100_000,
    "dots": "a." * 100_000,
    "lines": "x\n" * 100_000,
    "blank": " " * 200_000,
    "one word": "a" * 300_000,
    "subject": "with the subject " * 10_000,
    "numbers": "1 " * 100_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
async def test_long_text_does_not_stall_it(text: str) -> None:
    began = time.process_time()
    await DemoModel().complete(ModelRequest("", (UserMessage(text, text),), (), 100, "demo"))
    summarise(text)
    assert time.process_time() - began < 5.0
