"""Letters the demo model has not seen, each with the tools it must use, whom it may write to, and what it must say.

Every case runs in the loop of `loop.py`: real tools, real skill, mail in memory. A case says what the user wrote and
attached; nothing of it stands in the program.
"""

from dataclasses import dataclass, field

import pytest

from agents.models.demo import DemoModel
from agents.ports import MailText
from tests.agents.models.loop import NOW, MemoryMail, MemorySchedule, Office

GARDEN = """Garden club, June meeting

The pond will be cleaned on 14 June, and everyone should bring gloves.
We sold 230 pots of herbs at the spring market, which made 1,150 euro.
The coffee was cold again.
Ruth wants to plant two apple trees behind the shed before the autumn.
The key to the shed now hangs in the library, not in the kitchen.
"""
REPORT = """# Third quarter

Revenue rose by 8 percent to 4.2 million, mostly because of the northern region.
Two of the five vans need new engines; the garage asks for 9,800 euro.
We hired three drivers in August. The canteen has a new cook.
Complaints about late parcels fell from 41 to 17 a week.
"""
PRICES = "item,price,stock\nbolt,0.20,400\nnut,0.10,900\nwasher,0.05,1200\n"
PAGE = "<html><head><title>x</title></head><body><h1>Ferry</h1><p>The ferry sails at 7 and at 19.</p></body></html>"
READ, ASK = "read_attachment", "ask_user"

NOTES = {"garden.txt": GARDEN}
BOTH = {"garden.txt": GARDEN, "q3.md": REPORT}


@dataclass(frozen=True)
class Case:
    """One letter. `calls` are the agent's own, in order; `to` the recipients of each proposal; `says` parts of the last
    word; `body` parts of the (first) mail's text."""

    text: str
    calls: list[str]
    files: dict[str, str] = field(default_factory=dict)
    to: list[list[str]] = field(default_factory=list)
    says: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    subject: str = "A wish"
    answers: tuple[str, ...] = ()
    foreign: str = ""


SUMMARY = [READ, "delegate"]
SENT = [*SUMMARY, "send_mail"]
SUMMARY_2 = [READ, READ, "delegate"]

CASES = {
    # Summaries of files
    "plain": Case("Summarise the attached file.", SUMMARY, NOTES, says=("Summary of garden.txt:", "14 June")),
    "american": Case("Can you summarize this for me please?", SUMMARY, NOTES, says=("14 June",)),
    "gist": Case("What's the gist of the attached minutes?", SUMMARY, NOTES, says=("1,150",)),
    "tldr": Case("tl;dr please", SUMMARY, NOTES, says=("Summary of garden.txt",)),
    "key points": Case(
        "I need the key points of the attachments.", SUMMARY_2, BOTH, says=("garden.txt and q3.md", "4.2 million")
    ),
    "by name": Case("Please summarise q3.md only.", SUMMARY, BOTH, says=("Summary of q3.md", "8 percent")),
    "by kind": Case(
        "Give me an overview of the spreadsheet", SUMMARY, {**NOTES, "prices.csv": PRICES}, says=("3 rows", "bolt")
    ),
    "but not": Case("Summarise the attachments except garden.txt", SUMMARY, BOTH, says=("Summary of q3.md",)),
    "second": Case("Sum up the second attachment.", SUMMARY, BOTH, says=("Summary of q3.md",)),
    "subject only": Case("", SUMMARY, NOTES, subject="Please summarise the attached notes", says=("14 June",)),
    "html": Case("Summarise the attached page", SUMMARY, {"ferry.html": PAGE}, says=("sails at 7",)),
    "unreadable too": Case(
        "Summarise the attachments",
        SUMMARY_2,
        {**NOTES, "photo.png": "\x89PNG"},
        says=("14 June", "Not read", "photo.png"),
    ),
    "only unreadable": Case(
        "Summarise the photo and mail it to ann@trees.example",
        [READ],
        {"photo.png": "\x89PNG"},
        says=("Not sent", "Not read"),
    ),
    # Summaries that go out
    "summarise and send": Case(
        "Summarise the attached report and send the summary to lena@hill.example",
        SENT,
        {"q3.md": REPORT},
        [["lena@hill.example"]],
        ("Done: the summary of q3.md went to lena@hill.example.",),
        ("Hi Lena", "4.2 million"),
    ),
    "send first": Case(
        "Please send Otto (otto.king@hill.example) a summary of the attached minutes.\n\nThanks\nAda",
        SENT,
        NOTES,
        [["otto.king@hill.example"]],
        ("went to otto.king@hill.example",),
        ("Hi Otto", "apple trees"),
    ),
    "two sentences": Case(
        "Here are the minutes. Could you condense them? Then mail the result to lena@hill.example.",
        SENT,
        NOTES,
        [["lena@hill.example"]],
        body=("14 June",),
    ),
    "wrapped lines": Case(
        "Hi,\n\nplease summarize the attached notes and send\nthe summary to lena@hill.example and\nalso to "
        "otto@hill.example.\n\nBest,\nAda",
        SENT,
        NOTES,
        [["lena@hill.example", "otto@hill.example"]],
        body=("Hi Lena and Otto",),
    ),
    "three people": Case(
        "Email the key points of garden.txt to a@hill.example, b@hill.example and c@hill.example",
        SENT,
        BOTH,
        [["a@hill.example", "b@hill.example", "c@hill.example"]],
        body=("Hello,",),
    ),
    "named person": Case(
        "Summarise the notes and send them to Lena <lena.f@hill.example>",
        SENT,
        NOTES,
        [["lena.f@hill.example"]],
        body=("Hi Lena",),
    ),
    "needs": Case("lena@hill.example needs a summary of this file.", SENT, NOTES, [["lena@hill.example"]]),
    "address later": Case(
        "Summarise the notes. Lena should get the summary; her address is lena@hill.example.",
        SENT,
        NOTES,
        [["lena@hill.example"]],
        body=("Hi Lena",),
    ),
    "own subject": Case(
        'Mail a summary of the attached report to lena@hill.example with the subject "Q3 in short"',
        SENT,
        {"q3.md": REPORT},
        [["lena@hill.example"]],
        says=("Q3 in short",),
    ),
    "one sentence": Case(
        "Send lena@hill.example a one-sentence summary of the attached notes", SENT, NOTES, [["lena@hill.example"]]
    ),
    "two mails": Case(
        "Send a summary of garden.txt to lena@hill.example and the file itself to otto@hill.example",
        [*SENT, "send_mail"],
        NOTES,
        [["lena@hill.example"], ["otto@hill.example"]],
    ),
    "not sent": Case("Summarise garden.txt but don't send it to anyone.", SUMMARY, NOTES, says=("14 June",)),
    "address in prose": Case("I met otto@hill.example yesterday. Summarise the attached notes.", SUMMARY, NOTES),
    "from is no target": Case(
        "The attached notes came from otto@hill.example. Summarise them for lena@hill.example.",
        SENT,
        NOTES,
        [["lena@hill.example"]],
    ),
    "not to": Case(
        "Summarise the notes and send them to lena@hill.example, not to otto@hill.example.",
        SENT,
        NOTES,
        [["lena@hill.example"]],
    ),
    "rundown": Case(
        "Give lena@hill.example a quick rundown of the attached minutes", SENT, NOTES, [["lena@hill.example"]]
    ),
    "brief": Case("Brief lena@hill.example on the attached notes", SENT, NOTES, [["lena@hill.example"]]),
    "misspelt": Case("pls sumarise the notes and send to lena@hill.example", SENT, NOTES, [["lena@hill.example"]]),
    "a list": Case(
        "Two things please:\n1. Summarise the attached notes\n2. Send the summary to lena@hill.example",
        SENT,
        NOTES,
        [["lena@hill.example"]],
    ),
    "each their own": Case(
        "Summarise garden.txt for lena@hill.example and q3.md for otto@hill.example",
        [*SUMMARY_2, "send_mail", "send_mail"],
        BOTH,
        [["lena@hill.example"], ["otto@hill.example"]],
        body=("summary of garden.txt:", "14 June"),
    ),
    "with the file": Case(
        "Send the notes and their summary to lena@hill.example",
        SENT,
        NOTES,
        [["lena@hill.example"]],
        body=("14 June",),
    ),
    "already a summary": Case(
        "Hi, this is the summary I wrote. Send it to lena@hill.example.",
        ["send_mail"],
        NOTES,
        [["lena@hill.example"]],
        body=("Attached is garden.txt.",),
    ),
    # Own and forwarded text
    "own text": Case(f"Summarise the following text in two sentences:\n\n{REPORT}", ["delegate"], says=("8 percent",)),
    "text above": Case(
        f"{GARDEN}\n\nPlease summarise the above and send it to lena@hill.example",
        ["delegate", "send_mail"],
        to=[["lena@hill.example"]],
        body=("14 June",),
    ),
    "forwarded": Case("Can you summarise this?", ["delegate"], foreign=REPORT, says=("8 percent",)),
    # Files and words as they are
    "forward file": Case(
        "Please forward q3.md to lena@hill.example and cc otto@hill.example.",
        ["send_mail"],
        BOTH,
        [["lena@hill.example", "otto@hill.example"]],
        ("q3.md went to",),
    ),
    "file and words": Case(
        "Send the attached photo to lena@hill.example and tell her that it was a great day",
        ["send_mail"],
        {"p.jpg": "x"},
        [["lena@hill.example"]],
        body=("It was a great day.", "p.jpg"),
    ),
    "tell": Case(
        "Tell otto@hill.example that I will be late and that he should start without me.",
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("I will be late and that he should start without me.",),
    ),
    "saying": Case(
        "Write a mail to otto@hill.example saying that the parcel has arrived",
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("The parcel has arrived.",),
    ),
    "colon": Case(
        "Write to otto@hill.example: The meeting moved to Thursday.",
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("The meeting moved to Thursday.",),
    ),
    "whole letter": Case(
        "Please send a mail to otto@hill.example.\n\nHi Otto,\n\nthe parcel has arrived and I put it next to "
        "your door. See you on Monday.\n\nAda",
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("Hi Otto,\n\nthe parcel has arrived",),
    ),
    "ask somebody": Case(
        "Ask otto@hill.example whether he can come on Friday",
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("whether you can come on Friday",),
    ),
    "draft": Case(
        "Draft a mail to otto@hill.example about the summer party", ["draft_mail"], says=("Drafts", "not sent")
    ),
    "draft summary": Case(
        "Summarise the notes and put it in a draft to otto@hill.example, but don't send it.",
        [*SUMMARY, "draft_mail"],
        NOTES,
        says=("it was not sent",),
    ),
    # The mailbox
    "search": Case("Search my mail for the invoice from Hooper", ["search_mail"], says=("Invoice 88", "Hooper")),
    "from whom": Case("Do I have any mail from Hooper?", ["search_mail"], says=("1 found",)),
    "nothing found": Case("Find mails about dragons", ["search_mail"], says=("Nothing found",)),
    "inbox": Case("Show me my latest mails", ["search_mail"], says=("Invoice 88", "Boat trip")),
    "waiting": Case("What is waiting for me?", ["search_mail"], says=("1 waiting", "Approve?")),
    "read": Case("Read me the last mail from Nina", ["search_mail", "read_mail"], says=("We leave at six",)),
    "what did she write": Case(
        "What did Nina write about the boat?", ["search_mail", "read_mail"], says=("We leave at six",)
    ),
    "summarise a mail": Case(
        "Find the mail from Nina about the boat trip and summarise it",
        ["search_mail", "read_mail", "delegate"],
        says=("six",),
    ),
    "forward a mail": Case(
        "Forward the last mail from Nina to otto@hill.example",
        ["search_mail", "read_mail", "send_mail"],
        to=[["otto@hill.example"]],
        body=("We leave at six",),
    ),
    "attachments": Case("Which files are attached?", ["list_attachments"], BOTH, says=("garden.txt", "q3.md")),
    # Reminders
    "remind": Case(
        "Remind me tomorrow at 9 to call Otto and send the report to lena@hill.example",
        ["remind_me"],
        says=("Done", "2026-11-30T09:00"),
    ),
    "and remind": Case(
        "Summarise the notes and remind me in two hours to read them again",
        [*SUMMARY, "remind_me"],
        NOTES,
        says=("2026-11-29T11:00",),
    ),
    # What is missing is asked for
    "no file": Case("Summarise the attached file", [ASK, "delegate"], answers=(GARDEN,), says=("14 June",)),
    "no address": Case(
        "Summarise the notes and send the summary to Lena",
        [ASK, *SENT],
        NOTES,
        [["lena@hill.example"]],
        answers=("It is lena@hill.example",),
    ),
    "role": Case(
        "Send a summary of the notes to my accountant",
        [ASK, *SENT],
        NOTES,
        [["kim@books.example"]],
        answers=("kim@books.example",),
    ),
    "no text": Case(
        "Send a mail to otto@hill.example",
        [ASK, "send_mail"],
        to=[["otto@hill.example"]],
        answers=("I will come by train.",),
        body=("I will come by train.",),
    ),
    "no answer": Case("Send a summary of the notes to Lena", [ASK], NOTES, says=("nothing was sent",)),
    "never mind": Case(
        "Send a summary of the notes to Lena", [ASK], NOTES, answers=("forget it",), says=("nothing was sent",)
    ),
    # No work
    "thanks": Case("Thanks a lot!", [], says=("welcome",)),
    "help": Case("What can you do?", [], says=("no language model", "summarise", "[models.NAME]")),
    "unknown": Case(
        "Book me a flight to Oslo for Friday", [], says=("Not done", "did not understand", "[models.NAME]")
    ),
    "too hard": Case("Translate the attached file into French", [], NOTES, says=("Not done", "did not understand")),
    # German
    "german": Case(
        "Fasse die Notizen im Anhang zusammen und schicke die Zusammenfassung an lena@hill.example.",
        SENT,
        NOTES,
        [["lena@hill.example"]],
        ("Erledigt: die Zusammenfassung von garden.txt ging an lena@hill.example.",),
        ("Hallo Lena",),
    ),
    "german order": Case(
        "Bitte den Anhang zusammenfassen und an Frau Berg (berg@hill.example) schicken.",
        SENT,
        NOTES,
        [["berg@hill.example"]],
        body=("Hallo Frau Berg",),
    ),
    "german what": Case(
        "Worum geht es in der angehängten Datei?", SUMMARY, NOTES, says=("Zusammenfassung von garden.txt",)
    ),
    "german search": Case("Suche in meinen Mails nach der Rechnung von Hooper", ["search_mail"]),
    "german remind": Case("Erinnere mich morgen um 10 Uhr an den Zahnarzt", ["remind_me"], says=("2026-11-30T10:00",)),
    "german words": Case(
        "Schreib otto@hill.example, dass ich später komme",
        ["send_mail"],
        to=[["otto@hill.example"]],
        body=("dass ich später komme.",),
    ),
    "german forward": Case(
        "Leite den Anhang an otto@hill.example weiter", ["send_mail"], NOTES, [["otto@hill.example"]]
    ),
}


def mailbox() -> MemoryMail:
    you = ("ada@postroom.internal",)
    return MemoryMail(
        mails=[
            MailText(
                "1",
                "Invoice 88",
                "Hooper <hooper@shop.example>",
                you,
                NOW - 90_000,
                "Please pay 88 euro for the bolts.",
                False,
            ),
            MailText(
                "2",
                "Boat trip",
                "Nina <nina@lake.example>",
                you,
                NOW - 60_000,
                "We leave at six. Bring a coat, it is cold on the lake.",
                False,
            ),
            MailText(
                "3",
                "Approve? Send mail [A-2222]",
                "Assistant <assistant@postroom.internal>",
                you,
                NOW,
                "It wants to send.",
                True,
            ),
        ],
        waiting=frozenset({"3"}),
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_a_letter_it_has_not_seen(case: Case) -> None:
    office = Office(DemoModel(), mail=mailbox(), schedule=MemorySchedule(), answers=list(case.answers))
    done = await office.write(case.text, case.files, case.subject, case.foreign)
    assert done.calls == case.calls, done.text
    assert [proposal["to"] for proposal in done.proposed] == case.to
    for part in case.says:
        assert part in done.text
    for part in case.body:
        assert part in done.proposed[0]["text"]


@pytest.mark.parametrize("case", [case for case in CASES.values() if case.files], ids=lambda case: case.text[:40])
async def test_the_same_request_gives_the_same_reply(case: Case) -> None:
    one = await Office(DemoModel(), mail=mailbox(), answers=list(case.answers)).write(
        case.text, case.files, case.subject
    )
    two = await Office(DemoModel(), mail=mailbox(), answers=list(case.answers)).write(
        case.text, case.files, case.subject
    )
    assert one == two
