"""Turns of phrase that people use and that read differently from how they are built: the wish and its text on one line,
dots that end nothing, questions about somebody put to them, words that belong to the mail."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest

from agents import prompt
from agents.letter import Attachment, Letter, Origin
from agents.llm import ModelRequest, ToolSpec, UserMessage
from agents.models.demo import DemoModel, reply_to
from agents.models.demo.mailwords import mail_query, take_words
from agents.models.demo.material import split_material
from agents.models.demo.recipients import greeting_names
from agents.models.demo.text import sentences
from agents.models.demo.times import read_due
from tests.agents.models.loop import MemorySchedule, Office, first_then
from tests.agents.models.test_demo_letters import ASK, BOTH, NOTES, REPORT, SENT, SUMMARY, SUMMARY_2, Case, mailbox

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
    "tell me about the file": Case(
        "I was hoping you could have a look at the attached report and tell me about the complaints.",
        SUMMARY,
        {"q3.md": REPORT},
        says=("Complaints about late parcels",),
    ),
    "what is attached": Case("Show me the attached files, please.", ["list_attachments"], BOTH, says=("q3.md",)),
    "found and sent": Case(
        "Find the mail about the boat and send it to otto@hill.example",
        ["search_mail", "read_mail", "send_mail"],
        to=[["otto@hill.example"]],
        body=("We leave at six.",),
    ),
    "a text each": Case(
        'Send "The goat is here." to lena@hill.example and send "The hen is gone." to otto@hill.example.',
        ["send_mail", "send_mail"],
        to=[["lena@hill.example"], ["otto@hill.example"]],
        body=("The goat is here.",),
    ),
    "a draft to somebody without an address": Case(
        "Draft a reply to Otto saying that the hen is gone.",
        [ASK, "draft_mail"],
        answers=("otto@hill.example",),
        says=("a draft to otto@hill.example", "Hi Otto", "The hen is gone."),
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


MORNING = datetime.fromisoformat("2026-11-30T09:00")


@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("Remind me on 24 December at 18:00 to light the candles", "2026-12-24T18:00"),
        ("Remind me on December 24th to light the candles", "2026-12-24T09:00"),
        ("Remind me on the 1st of March at 8 to light the candles", "2027-03-01T08:00"),
        ("Erinnere mich am 5. Januar um 7 Uhr", "2027-01-05T07:00"),
        ("Remind me on 24.12. at 18:00", "2026-12-24T18:00"),
        ("Remind me on 3.2. at 18:00", "2027-02-03T18:00"),
        ("Remind me on the 15th", "2026-12-15T09:00"),
        ("Remind me on the 31st", "2026-12-31T09:00"),
        ("Remind me on 29 February", "2028-02-29T09:00"),
        ("Remind me on 2027-04-05", "2027-04-05T09:00"),
        ("Remind me on 5 May 2028", "2028-05-05T09:00"),
    ],
)
def test_a_date_by_its_name(said: str, at: str) -> None:
    due = read_due(said, MORNING)
    assert due is not None
    assert f"{due.at:%Y-%m-%dT%H:%M}" == at
    assert due.what in ("", "Light the candles")


@pytest.mark.parametrize("said", ["Remind me on 31 April", "Remind me on 2020-04-05", "Remind me yesterday at 5"])
def test_a_date_that_never_comes_is_asked_about(said: str) -> None:
    assert read_due(said, MORNING) is None


SKILL = "You are Summariser, and you make summaries."


@pytest.mark.parametrize("said", [FERRY, f"Two sentences, please.\n\n{FERRY}", f"Summarise this. {FERRY}"])
def test_a_specialist_takes_a_text_as_its_work(said: str) -> None:
    reply = reply_to(ModelRequest(SKILL, (UserMessage(f"Subject: Ferry\n\n{said}", said),), (), 4000, "demo"))
    assert LEAVES in reply.text


def test_a_specialist_takes_a_file_with_any_words() -> None:
    spec = discover_read_attachment()
    file = Attachment("m1", "garden.txt", "text/plain", 10)
    said = UserMessage("Subject: Here\n\nPlease do it", "Please do it", (file,))
    reply = reply_to(ModelRequest(SKILL, (said,), (spec,), 4000, "demo"))
    assert [call.name for call in reply.calls] == ["read_attachment"]


def test_an_agent_that_does_other_things_too_takes_nothing_for_granted() -> None:
    said = UserMessage(f"Subject: Ferry\n\n{FERRY}", FERRY)
    specs = tuple(tool.spec for tool in Office(DemoModel()).tools().values())
    assert "did not understand" in reply_to(ModelRequest(SKILL, (said,), specs, 4000, "demo")).text


def discover_read_attachment() -> ToolSpec:
    return Office(DemoModel()).tools()["read_attachment"].spec


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
    assert mail_query("list the mails from the assistant about the lease") == "from:assistant lease"


def test_titles_in_addresses() -> None:
    assert greeting_names(["frau.berg@hill.example"], [""]) == ("Frau Berg",)
    assert greeting_names(["dr@hill.example"], [""]) == ()


def read_as(origin: Origin, text: str) -> str:
    """What the demo model answers, or the calls it wants, for a letter with a foreign mail in it."""
    letter = Letter("k", 1, "t", "assistant", None, "Fwd: x", text, "", "x@y", 0, "m", origin=origin, foreign=FERRY)
    specs = tuple(tool.spec for tool in Office(DemoModel()).tools().values())
    reply = reply_to(ModelRequest("", (prompt.letter_message(letter),), specs, 4000, "demo"))
    return reply.text or " ".join(f"{call.name} {call.raw_args}" for call in reply.calls)


def test_a_mail_handed_over_without_a_word_is_summed_up() -> None:
    assert read_as(Origin.DROPPED, "").startswith("delegate")
    assert LEAVES in read_as(Origin.DROPPED, "")


def test_a_word_above_a_forwarded_mail_is_obeyed() -> None:
    assert "You are welcome" in read_as(Origin.FORWARDED, "Thanks!")
    assert read_as(Origin.FORWARDED, "Send this to lena@hill.example").startswith("send_mail")


async def test_each_gets_their_own_words() -> None:
    done = await Office(DemoModel()).write(CASES["a text each"].text)
    assert ["goat" in mail["text"] for mail in done.proposed] == [True, False]
    assert ["hen" in mail["text"] for mail in done.proposed] == [False, True]


async def test_a_new_address_is_greeted_by_its_own_name() -> None:
    office = Office(DemoModel(), decide=first_then("Use lena@hill.example instead please"))
    done = await office.write('Send "The hen is gone." to otto@hill.example')
    assert [(mail["to"], mail["text"].split(",")[0]) for mail in done.sent] == [(["lena@hill.example"], "Hi Lena")]


async def test_the_report_tells_what_was_sent_when_the_user_changed_it() -> None:
    def edit(args: Mapping[str, Any]) -> tuple[bool, str]:
        changes = {"to": ["lena@hill.example"], "subject": 'A "new"; one'}
        return True, prompt.result_changed("Sent.", changes)

    done = await Office(DemoModel(), decide=edit).write('Send "The hen is gone." to otto@hill.example')
    assert "went to lena@hill.example" in done.text
    assert "otto@" not in done.text
    assert 'A "new"; one' in done.text


def test_changes_are_read_as_they_were_told() -> None:
    changes = {"to": ["a@b.example", "c; d is now 5"], "text": 'x\n"y"', "urgent": True}
    told = prompt.result_changed("Sent.\nfoo is now 3", changes)
    assert prompt.changes_in(told) == changes
    assert prompt.changes_in("Sent. foo is now 3") == {}
