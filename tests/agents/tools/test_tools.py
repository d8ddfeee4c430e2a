"""The built-in tools, each on its own: what it takes, how it is shown, what it gives, and which text is untrusted."""

from dataclasses import replace
from typing import Any, cast

import pytest

from agents import discover, schema, skills
from agents.approvals import edited
from agents.letter import Attachment, Field
from agents.offer import Offer
from agents.ports import AttachmentData, Database, MailSummary, MailText, WriteTx
from agents.schedule import Reminder
from agents.tool import Act, Ask, Delegate, Risk, SendOut, Tool, ToolCall, ToolContext, ToolFailed, ToolResult, Within
from agents.tools.read_result import grep, page
from config.settings import Fetch
from tests.agents.models.loop import NOW, FixedClock, MemoryMail, MemorySchedule
from tests.agents.tools.test_extract import pdf

NO_TX = cast("WriteTx", None)
YOU = ("ada@postroom.internal",)


def mailbox() -> MemoryMail:
    return MemoryMail(
        mails=[
            MailText("1", "Invoice 88", "Hooper <hooper@shop.example>", YOU, NOW - 5, "Pay 88 euro.", False, ("1.2",)),
            MailText("2", "Summary", "Assistant <assistant@postroom.internal>", YOU, NOW - 3, "Here it is.", True),
        ],
        files={
            "m1": AttachmentData("plan.txt", "text/plain", b"Plant the trees."),
            "1.2": AttachmentData("i.pdf", "application/pdf", pdf("88 euro")),
        },
    )


def context(*files: Attachment, mail: MemoryMail | None = None) -> ToolContext:
    return ToolContext(1, "assistant", "t", "run", 1, False, files, "", mail or mailbox(), FixedClock())


PLAN = Attachment("m1", "plan.txt", "text/plain", 16)


def tools(schedule: MemorySchedule | None = None, relay: bool = True) -> dict[str, Tool]:
    ready = skills.load([skills.builtin_folder()]).profiles
    return {tool.spec.name: tool for tool in discover.tools(Offer(relay=relay, skills=ready, schedule=schedule))}


async def run(name: str, args: dict[str, Any], ctx: ToolContext | None = None) -> ToolResult:
    tool = tools()[name]
    assert schema.faults(tool.spec.schema, args) == []
    assert isinstance(tool.plan(args), Act)
    return await tool.run(ToolCall("c", "run", "k", name, args), ctx or context())


def apply(tool: Tool, args: dict[str, Any], ctx: ToolContext | None = None) -> ToolResult:
    assert schema.faults(tool.spec.schema, args) == []
    assert isinstance(tool.plan(args), Within)
    return tool.apply(NO_TX, ToolCall("c", "run", "k", tool.spec.name, args), ctx or context())


# What all have in common


def test_every_tool_is_told_exactly() -> None:
    for name, tool in tools(MemorySchedule()).items():
        assert name == tool.spec.name
        assert tool.spec.description
        assert tool.spec.schema["additionalProperties"] is False
        assert set(tool.spec.schema.get("required", ())) <= set(tool.spec.schema["properties"])
        assert len(tool.spec.digest()) == 64


def test_risks() -> None:
    risks = {name: tool.risk for name, tool in tools(MemorySchedule()).items()}
    assert risks.pop("send_mail") is Risk.SEND_OUT
    assert {name for name, risk in risks.items() if risk is Risk.READ} == {
        "list_attachments",
        "read_attachment",
        "read_mail",
        "read_result",
        "recall",
        "search_mail",
    }
    assert set(risks.values()) == {Risk.READ, Risk.WRITE_OWN, Risk.SEND}


def test_what_is_not_there_is_not_offered() -> None:
    assert "send_mail" not in tools(relay=False)
    assert "remind_me" not in tools()
    assert "remind_me" in tools(MemorySchedule())
    assert "delegate" not in {tool.spec.name for tool in discover.tools(Offer())}


@pytest.mark.parametrize(
    ("name", "args", "field"),
    [
        ("search_mail", {"query": 5}, "query"),
        ("search_mail", {"query": "x", "limit": 0}, "limit"),
        ("read_mail", {}, "ref"),
        ("read_attachment", {"ref": ""}, "ref"),
        ("delegate", {"skill": "cook", "task": "x"}, "skill"),
        ("ask_user", {"question": ""}, "question"),
        ("send_mail", {"to": [], "subject": "a", "text": "b"}, "to"),
        ("send_mail", {"to": "a@b.example", "subject": "a", "text": "b"}, "to"),
        ("send_mail", {"to": ["a@b.example"], "subject": "a", "text": "b", "cc": []}, "cc"),
        ("draft_mail", {"to": [], "subject": "", "text": "b"}, "subject"),
        ("remind_me", {"text": "x", "at": "soon"}, "at"),
    ],
)
def test_wrong_arguments_name_the_field(name: str, args: dict[str, Any], field: str) -> None:
    found = schema.faults(tools(MemorySchedule())[name].spec.schema, args)
    assert found
    assert field in found[0]


# Mail


async def test_search_gives_refs_and_is_untrusted() -> None:
    found = await run("search_mail", {"query": "invoice"})
    assert "- ref 1 |" in found.text
    assert "Invoice 88" in found.text
    assert found.untrusted
    assert "search in your mail" in found.source


async def test_the_mail_that_asks_for_a_search_is_not_among_its_hits() -> None:
    own = MailSummary("9", "Sent", "Find it", "Ada <ada@postroom.internal>", 1, "find the invoice", "t")
    other = MailSummary("8", "Sent", "An invoice", "Ada <ada@postroom.internal>", 1, "my invoice", "u")
    result = MailSummary("7", "INBOX", "Re: Find it", "Assistant <assistant@postroom.internal>", 1, "invoice", "t")

    class Found(MemoryMail):
        async def search(self, account: int, query: str, limit: int) -> list[MailSummary]:
            return [own, other, result]

    found = await run("search_mail", {"query": "invoice"}, context(mail=Found()))
    assert "ref 9" not in found.text
    assert "2 mails found" in found.text


async def test_a_search_without_hits_says_so_and_marks_nothing() -> None:
    found = await run("search_mail", {"query": "dragons"})
    assert found == ToolResult("No mail found for: dragons")


async def test_reading_a_foreign_mail_marks_and_an_own_one_does_not() -> None:
    foreign = await run("read_mail", {"ref": "1"})
    assert foreign.untrusted
    assert "From: Hooper" in foreign.text
    assert "1.2" in foreign.text
    assert foreign.source == 'mail "Invoice 88" from Hooper <hooper@shop.example>'
    assert not (await run("read_mail", {"ref": "2"})).untrusted


async def test_a_mail_that_is_not_there() -> None:
    with pytest.raises(ToolFailed, match='no mail "9"'):
        await run("read_mail", {"ref": "9"})


# Attachments


async def test_listing_attachments() -> None:
    assert "plan.txt (ref m1, text/plain, 16 B)" in (await run("list_attachments", {}, context(PLAN))).text
    assert "No files" in (await run("list_attachments", {})).text


@pytest.mark.parametrize("ref", ["m1", "plan.txt", "PLAN.TXT"])
async def test_an_attachment_by_ref_or_name_is_untrusted(ref: str) -> None:
    found = await run("read_attachment", {"ref": ref}, context(PLAN))
    assert found == ToolResult("Plant the trees.", untrusted=True, source="plan.txt (your attachment)")


async def test_an_attachment_that_is_trusted_is_not_foreign() -> None:
    assert not (
        await run("read_attachment", {"ref": "m1"}, replace(context(PLAN), trusted=frozenset({"m1"})))
    ).untrusted
    found = await run("read_attachment", {"ref": "1.2"}, replace(context(PLAN), trusted=frozenset({"m1", "1.2"})))
    assert found.untrusted


async def test_an_attachment_of_a_found_mail() -> None:
    found = await run("read_attachment", {"ref": "1.2"})
    assert "88 euro" in found.text
    assert found.source == "i.pdf (attachment of a mail)"


async def test_what_cannot_be_read_is_named() -> None:
    mail = mailbox()
    mail.files["p"] = AttachmentData("photo.png", "image/png", b"\x89PNG")
    with pytest.raises(ToolFailed, match=r"photo.png cannot be read: its type image/png"):
        await run("read_attachment", {"ref": "p"}, context(mail=mail))
    with pytest.raises(ToolFailed, match=r"attached to this task: plan.txt \(ref m1\)"):
        await run("read_attachment", {"ref": "nothing"}, context(PLAN))
    with pytest.raises(ToolFailed, match="2 files are named"):
        await run("read_attachment", {"ref": "plan.txt"}, context(PLAN, replace(PLAN, ref="m2")))
    with pytest.raises(ToolFailed, match=r"25\.0 MB"):
        await run("read_attachment", {"ref": "m1"}, context(replace(PLAN, size=25_000_000)))


async def test_an_empty_file_says_that_it_is_empty() -> None:
    mail = mailbox()
    mail.files["e"] = AttachmentData("e.txt", "text/plain", b"")
    assert (await run("read_attachment", {"ref": "e"}, context(mail=mail))).text == "[The file is empty.]"


# Delegation and questions


def test_delegation() -> None:
    tool = tools()["delegate"]
    assert tool.spec.schema["properties"]["skill"]["enum"] == ["guide", "summariser"]
    assert "summariser:" in tool.spec.description
    plan = tool.plan({"skill": "summariser", "task": " Sum it up. ", "attachments": ["m1"]})
    assert plan == Delegate("summariser", "Sum it up.", "", ("m1",))
    assert tool.describe({"skill": "summariser", "task": "x"}).subject == "Delegate to summariser"
    with pytest.raises(ToolFailed, match="task"):
        tool.plan({"skill": "summariser", "task": "  "})
    with pytest.raises(ToolFailed, match="there are guide, summariser"):
        tool.plan({"skill": "cook", "task": "x"})


def test_a_question() -> None:
    assert tools()["ask_user"].plan({"question": "Red or blue?", "choices": ["red", "blue"]}) == Ask(
        "Red or blue?", ("red", "blue")
    )
    with pytest.raises(ToolFailed, match="question"):
        tools()["ask_user"].plan({"question": " "})


def test_a_notice_is_mailed_to_the_user_alone() -> None:
    assert apply(tools()["notify"], {"text": " Half done. "}).notice == "Half done."


# Mail that leaves


SEND = {"to": ["lena@hill.example"], "subject": "The  plan", "text": "Hi Lena,\n\nhere it is.\n"}


def test_sending_is_a_row_of_the_outbox_and_shown_as_it_is() -> None:
    tool = tools()["send_mail"]
    plan = tool.plan({**SEND, "attachments": ["plan.txt"]})
    assert isinstance(plan, SendOut)
    assert (plan.mail.to, plan.mail.subject, plan.mail.text) == (
        ("lena@hill.example",),
        "The plan",
        "Hi Lena,\n\nhere it is.\n",
    )
    assert plan.attachments == ("plan.txt",)
    shown = tool.describe({**SEND, "attachments": ["plan.txt"]})
    assert (shown.title, shown.subject) == ("Send mail", "Send mail to lena@hill.example")
    assert [(field.name, field.value) for field in shown.fields] == [
        ("To", "lena@hill.example"),
        ("Subject", "The plan"),
        ("Body", "Hi Lena,\n\nhere it is."),
        ("Attached", "plan.txt"),
    ]
    assert tool.describe(SEND).fields[-1].value == "none"


async def test_names_of_files_that_others_sent_are_their_text() -> None:
    assert (await run("list_attachments", {}, context(PLAN))).untrusted is False
    told = await run("list_attachments", {}, context(PLAN, replace(PLAN, ref="m2", outside=True)))
    assert (told.untrusted, told.source) == (True, "names of attached files")


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", "..", "a\nb", "gpj\u202etxt.html", "a\u200bb.md", "a\x7fb"])
def test_a_file_has_a_name_that_reads_as_what_it_is(name: str) -> None:
    with pytest.raises(ToolFailed, match="is not the name of a file"):
        tools()["attach_file"].plan({"name": name, "text": "x"})


@pytest.mark.parametrize(
    ("name", "args", "shown", "changed"),
    [
        ("send_mail", {"to": ["a@x.example"], "subject": "s", "text": "t"}, "Body", {"text": "new"}),
        ("send_mail", {"to": ["a@x.example"], "subject": "s", "text": "t"}, "Attached", {"attachments": ["new"]}),
        ("draft_mail", {"to": [], "subject": "s", "text": "t"}, "Body", {"text": "new"}),
        ("fetch_page", {"url": "http://x.example/"}, "Address", {"url": "http://new.example/"}),
        ("remember", {"text": "t"}, "Note", {"text": "new"}),
        ("write_file", {"path": "a/b", "text": "t"}, "File", {"path": "a/new"}),
        ("write_file", {"path": "a/b", "text": "t"}, "Text", {"text": "new"}),
    ],
)
def test_an_edit_names_a_field_as_the_request_shows_it(
    name: str, args: dict[str, Any], shown: str, changed: dict[str, Any]
) -> None:
    offer = Offer(relay=True, db=cast("Database", object()), fetch=Fetch())
    tool = {tool.spec.name: tool for tool in discover.tools(offer)}[name]
    assert shown in [field.name for field in tool.describe(args).fields]
    new = next(iter(changed.values()))
    assert edited(tool, args, {shown.lower(): new}) == {**args, **changed}
    with pytest.raises(schema.Unreadable, match=shown):
        edited(tool, args, {"colour": "red"})


def test_every_recipient_is_a_line_and_repeated_ones_are_one() -> None:
    shown = tools()["send_mail"].describe({**SEND, "to": ["a@x.example", "b@x.example", "a@x.example", "c@x.example"]})
    assert [field.value for field in shown.fields if field.name == "To"] == [
        "a@x.example",
        "b@x.example",
        "c@x.example",
    ]
    assert shown.subject == "Send mail to a@x.example and 2 more"


def test_a_foreign_letter_in_an_address_shows_as_punycode() -> None:
    shown = tools()["send_mail"].describe({**SEND, "to": ["lena@bücher.example"]})
    assert shown.fields[0] == Field("To", "lena@bücher.example", "in ASCII: lena@xn--bcher-kva.example")
    look_alike = tools()["send_mail"].describe({**SEND, "to": ["lenа@hill.example"]})
    assert "\\u0430" in look_alike.fields[0].note


@pytest.mark.parametrize(
    "address",
    [
        "lena",
        "lena@",
        "@hill.example",
        "lena hill@x.example",
        "a@b@c.example",
        "lena@hill.example\nBcc: x@y.example",
        "",
    ],
)
def test_a_bad_address_is_refused_by_name(address: str) -> None:
    with pytest.raises(ToolFailed, match="to: "):
        tools()["send_mail"].plan({**SEND, "to": [address]})


def test_our_own_domain_and_one_label_hosts_are_for_the_relay_to_judge() -> None:
    assert isinstance(tools()["send_mail"].plan({**SEND, "to": ["bob@postroom.internal"]}), SendOut)


def test_a_subject_cannot_hold_a_line() -> None:
    plan = tools()["send_mail"].plan({**SEND, "subject": "Hi\r\nBcc: thief@evil.example"})
    assert isinstance(plan, SendOut)
    assert plan.mail.subject == "Hi Bcc: thief@evil.example"
    for field in ("subject", "text"):
        with pytest.raises(ToolFailed, match=field):
            tools()["send_mail"].plan({**SEND, field: "  \n "})


def test_a_draft_goes_to_drafts_and_nowhere_else() -> None:
    mail = mailbox()
    result = apply(tools()["draft_mail"], {"to": [], "subject": "Later", "text": "Text"}, context(mail=mail))
    assert mail.drafts[0].subject == "Later"
    assert "not sent" in result.text
    assert apply(tools()["draft_mail"], SEND, context(mail=mail)).text.count("lena@hill.example") == 1


# Reminders


def test_a_reminder_goes_to_the_schedule() -> None:
    schedule = MemorySchedule()
    result = apply(tools(schedule)["remind_me"], {"text": "Call  Otto", "at": "2027-01-05T09:00", "every": "week"})
    assert schedule.reminders == [Reminder("Call Otto", "2027-01-05T09:00", "week")]
    assert "2027-01-05T09:00 every week" in result.text


@pytest.mark.parametrize("at", ["2027-02-30T09:00", "2027-01-05T25:00"])
def test_a_day_that_does_not_exist_is_refused(at: str) -> None:
    with pytest.raises(ToolFailed, match="at: "):
        tools(MemorySchedule())["remind_me"].plan({"text": "x", "at": at})


# Long results


def test_a_long_result_page_by_page() -> None:
    text = "".join(chr(97 + number % 26) for number in range(40_000))
    parts, offset = [], 0
    while offset < len(text):
        part = page(text, offset).partition("\n[")[0]
        parts.append(part)
        offset += len(part)
    assert "".join(parts) == text
    assert "nothing at 40000" in page(text, 40_000)


def test_lines_with_a_word() -> None:
    assert grep("One\ntwo\nONE more", "one") == "1: One\n3: ONE more"
    assert "No line" in grep("x", "y")
    assert "[300 more lines]" in grep("a\n" * 500, "a")
