"""Turns of phrase that people use and that read differently from how they are built: the wish and its text on one line,
dots that end nothing, questions about somebody put to them, words that belong to the mail."""

import pytest

from agents.models.demo import DemoModel
from agents.models.demo.mailwords import mail_query, take_words
from agents.models.demo.material import split_material
from agents.models.demo.recipients import greeting_names
from agents.models.demo.text import sentences
from tests.agents.models.loop import MemorySchedule, Office
from tests.agents.models.test_demo_letters import BOTH, NOTES, SENT, SUMMARY, SUMMARY_2, Case, mailbox

FERRY = (
    "The ferry to Brandholm now leaves at 7:40 instead of 8:10. Tickets bought before June stay valid. "
    "The harbour office asks crews to load cargo the evening before."
)
LEAVES = "The ferry to Brandholm now leaves at 7:40"

CASES = {
    "text on the same line": Case(f"Summarise this. {FERRY}", ["delegate"], says=(LEAVES,)),
    "text before the wish": Case(f"{FERRY} Please summarise this.", ["delegate"], says=(LEAVES,)),
    "text between wishes": Case(
        f"Please send a summary of the following to crew@ships.example. {FERRY} Keep it short.",
        ["delegate", "send_mail"],
        to=[["crew@ships.example"]],
        body=(LEAVES,),
    ),
    "a question about the file": Case(
        "Was steht in der Datei über den Schlüssel?", SUMMARY, NOTES, says=("Zusammenfassung",)
    ),
    "a file and no word": Case("", SUMMARY, NOTES, subject="", says=("Summary of garden.txt",)),
    "a file and a name": Case("", SUMMARY, NOTES, subject="garden club", says=("Summary of garden.txt",)),
    "a quoted sentence": Case(
        'Send "The parcel came. It is wet." to otto@hill.example',
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("The parcel came. It is wet.",),
    ),
    "a politely told fact": Case(
        "Could you let otto@hill.example know that I will be late?",
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("I will be late.",),
    ),
    "asked about themselves": Case(
        "Ask otto@hill.example whether Tuesday suits him.",
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("whether Tuesday suits you.",),
    ),
    "a sentence more": Case(
        "Send the attached notes to otto@hill.example, please. Mention that the key now hangs in the library.",
        ["send_mail"],
        NOTES,
        [["otto@hill.example"]],
        body=("Attached is garden.txt.", "The key now hangs in the library."),
    ),
    "a sentence more with the summary": Case(
        'Mail a summary of the notes to otto@hill.example. Add the sentence "See you there."',
        SENT,
        NOTES,
        [["otto@hill.example"]],
        body=("14 June", "See you there."),
    ),
    "a German date": Case(
        "Schreib otto@hill.example, dass die Probe auf den 2. Dezember verschoben ist.",
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("auf den 2. Dezember verschoben ist.",),
    ),
    "the first and the second": Case(
        "Send a summary of the first file to lena@hill.example and of the second to otto@hill.example.",
        [*SUMMARY_2, "send_mail", "send_mail"],
        BOTH,
        [["lena@hill.example"], ["otto@hill.example"]],
        body=("summary of garden.txt:",),
    ),
    "a small name": Case("search my mail for messages from hooper", ["search_mail"], says=("Invoice 88",)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_a_turn_of_phrase(case: Case) -> None:
    office = Office(DemoModel(), mail=mailbox(), schedule=MemorySchedule(), answers=list(case.answers))
    done = await office.write(case.text, case.files, case.subject, case.foreign)
    assert done.calls == case.calls, done.text
    assert [proposal["to"] for proposal in done.proposed] == case.to
    for part in case.says:
        assert part in done.text
    for part in case.body:
        assert part in done.proposed[0]["text"]


async def test_each_gets_the_summary_of_their_own_file() -> None:
    office = Office(DemoModel(), mail=mailbox())
    done = await office.write(CASES["the first and the second"].text, BOTH)
    first, second = (proposal["text"] for proposal in done.proposed)
    assert "14 June" in first
    assert "4.2 million" not in first
    assert "4.2 million" in second
    assert "14 June" not in second


async def test_a_text_that_is_too_short_is_asked_for() -> None:
    office = Office(DemoModel(), answers=["never mind"])
    assert (await office.write("Summarise this. It is short.")).calls == ["ask_user"]


@pytest.mark.parametrize(
    "wish",
    [
        "Summarise the attached notes. I met Otto yesterday at the lake and we talked for a long time about boats.",
        "Summarise my last mail from Nina. She wrote about the boat trip that we want to make in summer with her dog.",
    ],
)
def test_a_wish_about_something_else_carries_no_text(wish: str) -> None:
    assert split_material(wish, has_files=False) == (wish, "")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Send it on. Then stop.", 2),
        ("Ask Dr. Brown about it. Thanks.", 2),
        ("Er kommt am 3. Mai. Danke.", 2),
        ("It is in plot 2. Go there.", 2),
        ('Write "One. Two." to Tom. Then rest.', 2),
        ("Schreib „Eins. Zwei.“ an Tom. Danke.", 2),
        ('He said "no. And that was it. For good.', 3),
        ('She said "Yes." Then she left.', 2),
    ],
)
def test_where_a_sentence_ends(text: str, count: int) -> None:
    assert len(sentences(text)) == count


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Ask ann@hill.example if she has time", "I would like to ask whether you have time."),
        ("Ask ann@hill.example when her train leaves", "I would like to ask when your train leaves."),
        ("Ask ann@hill.example what he needs", "I would like to ask what you need."),
        ("Ask ann@hill.example to bring her keys", "Could you please bring your keys?"),
        ("Ask ann@hill.example whether Nina has her key", "I would like to ask whether Nina has her key."),
        ("Ask ann@hill.example whether they can come", "I would like to ask whether you can come."),
    ],
)
def test_a_question_is_put_to_the_one_it_is_about(sentence: str, said: str) -> None:
    assert take_words(sentence)[1] == said


def test_a_search_takes_small_names_and_leaves_small_words() -> None:
    assert mail_query("search my mail for messages from maya about the budget") == "from:maya budget"
    assert mail_query("find mails from last week about rent") == "rent"


def test_titles_in_addresses() -> None:
    assert greeting_names(["frau.berg@hill.example"], [""]) == ("Frau Berg",)
    assert greeting_names(["dr@hill.example"], [""]) == ()
