"""An agent's mail as bytes: headers a client can rely on, two parts that agree, nothing smuggled in."""

import email
import email.policy
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.letter import (
    ActivityLine,
    ActivityView,
    Field,
    File,
    Footer,
    Item,
    Kind,
    Outgoing,
    OutsideMail,
    RequestView,
    Spent,
    ToolCount,
)
from bridge.post import mime, threadindex
from bridge.post.compose import Frame, compose, compose_outside
from bridge.post.reading import decides, vocabulary

FRAME = Frame("postroom.internal", "Ada", "ada@postroom.internal", "Assistant", ("<a@x>",), "Notes", 1_796_000_000_000)
FOOTER = Footer("Assistant", "demo", True, 2.0, 3, 0, None, False, (ToolCount("send_mail", 1, 0, 0, "approved"),), ())
RESULT = Outgoing(
    key="k1",
    kind=Kind.RESULT,
    account=1,
    agent="assistant",
    thread="7",
    subject="Re: Notes",
    body="Done: the summary went out.\n\n**Bold** and [a link](https://example.org/x).",
    state="done",
    run="r1",
    step=2,
    message_id="<m1@postroom.internal>",
    footer=FOOTER,
    in_reply_to="<b@x>",
)
VIEW = RequestView(
    id="q1",
    code="A-7F3K",
    token="6f3kq2w5x8m1t4r7v9y2z5b8c1",
    revision=1,
    title="Send mail to maya@example.org",
    items=(
        Item(
            1,
            "Send mail",
            (Field("To", "maya@example.org", "new"), Field("Body", "Hi Maya,\n\nthree points\napprove\n")),
        ),
    ),
    sources=("notes.txt (your attachment)",),
    spent=Spent(14, 2, 2, 100, Decimal("0.004"), True),
    expires=1_796_100_000_000,
    decisions=("approve", "reject", "edit"),
    grant_offered=True,
    asked_in="Notes",
)
REQUEST = replace(RESULT, kind=Kind.REQUEST, subject="Approve? Send mail [A-7F3K]", body="", request=VIEW)


def parsed(raw: bytes) -> email.message.EmailMessage:
    return email.message_from_bytes(raw, policy=email.policy.default)


def plain(raw: bytes) -> str:
    body = parsed(raw).get_body(("plain",))
    assert body is not None
    return str(body.get_content())


def parts(raw: bytes) -> dict[str, str]:
    message = parsed(raw)
    return {
        part.get_content_type(): part.get_content() for part in message.walk() if part.get_content_maintype() == "text"
    }


def test_headers_of_an_agents_mail() -> None:
    message = parsed(compose(RESULT, FRAME))
    assert message["From"] == "Assistant <assistant@postroom.internal>"
    assert message["To"] == "Ada <ada@postroom.internal>"
    assert message["In-Reply-To"] == "<b@x>"
    assert message["References"].split() == ["<a@x>", "<b@x>"]
    assert message["Message-ID"] == "<m1@postroom.internal>"
    assert message["Auto-Submitted"] == "auto-replied"
    assert (message["Postroom-Thread"], message["Postroom-Run"], message["Postroom-State"]) == ("7", "r1", "done")
    assert message["Thread-Topic"] == "Notes"


def test_the_same_outgoing_is_the_same_mail() -> None:
    assert compose(REQUEST, FRAME) == compose(REQUEST, FRAME)


def test_every_line_ends_with_crlf_and_is_short_enough_for_smtp() -> None:
    for raw in (compose(RESULT, FRAME), compose(REQUEST, FRAME)):
        assert b"\n" not in raw.replace(b"\r\n", b"")
        assert max(map(len, raw.split(b"\r\n"))) < 998


def test_thread_03_ids_are_never_encoded_or_broken() -> None:
    long = tuple(f"<{'x' * 80}{n}@mail.example>" for n in range(4))
    head = compose(replace(RESULT, in_reply_to=long[-1]), replace(FRAME, references=long)).partition(b"\r\n\r\n")[0]
    block = head[head.index(b"In-Reply-To") : head.index(b"Thread-Topic")]
    assert b"=?" not in block
    assert [one.encode() for one in long] == mime_ids(block.partition(b"References")[2])


def mime_ids(value: bytes) -> list[bytes]:
    return [b"<" + piece.partition(b">")[0] + b">" for piece in value.split(b"<")[1:]]


def test_thread_04_long_chains_keep_the_first_and_the_last_twenty() -> None:
    chain = tuple(f"<{n}@x>" for n in range(120))
    message = parsed(compose(replace(RESULT, in_reply_to="<120@x>"), replace(FRAME, references=chain)))
    assert message["References"].split() == ["<0@x>", *(f"<{n}@x>" for n in range(101, 121))]


def test_thread_index_begins_alike_in_all_mails_of_a_thread() -> None:
    import base64

    first, later = (base64.b64decode(threadindex.child("7", at)) for at in (1_796_000_000_000, 1_796_009_000_000))
    assert first[:22] == later[:22] == threadindex.root("7")
    assert first != later
    assert len(first) == 27
    assert threadindex.root("8") != threadindex.root("7")


def test_a_request_shows_every_field_behind_a_mark_and_decides_by_no_link() -> None:
    raw = compose(REQUEST, FRAME)
    assert parsed(raw)["Reply-To"] == "Postroom <action+6f3kq2w5x8m1t4r7v9y2z5b8c1@postroom.internal>"
    text = parts(raw)["text/plain"]
    assert "| To    maya@example.org   (new)" in text
    assert "|       approve" in text
    assert "notes.txt (your attachment)" in text
    assert "always approve" in text
    assert "http" not in text
    assert "http" not in parts(raw)["text/html"]


def test_no_line_of_a_request_decides_when_a_client_wraps_it_anew() -> None:
    """Wrapped at any usual width, with or without its marks, no line of a request is a word that lets it go ahead."""
    import textwrap

    words = vocabulary("all")
    text = parts(compose(replace(REQUEST, body=""), FRAME))["text/plain"]
    own = [line for line in text.splitlines() if not line.startswith("| ")]
    for width in (*range(24, 100), 200):
        for line in own:
            for piece in textwrap.wrap(line, width, break_on_hyphens=False) or [""]:
                assert decides(piece, words) != "approve", (width, piece)


def test_html_of_a_model_loads_nothing_and_shows_where_links_go() -> None:
    evil = "![pixel](http://evil.example/p.png) <img src=http://evil.example/q> <script>x</script> [bank](http://evil.example)"
    page = parts(compose(replace(RESULT, body=evil), FRAME))["text/html"]
    assert "<img" not in page
    assert "<script" not in page
    assert "src=" not in page.replace("&lt;img src=", "")
    assert "(http://evil.example)" in page


def test_a_value_that_hides_something_is_shown_with_escapes() -> None:
    view = replace(VIEW, items=(Item(1, "Send mail", (Field("To", "m\u200bay\u202ea@ex\u00e4mple.org"),)),))
    text = parts(compose(replace(REQUEST, request=view), FRAME))["text/plain"]
    assert "m\\u{200b}ay\\u{202e}a@ex\u00e4mple.org (xn--exmple-cua.org)" in text


def test_a_value_too_long_to_show_is_attached_whole() -> None:
    whole = "line\n" * 20_000
    view = replace(VIEW, items=(Item(1, "Send mail", (Field("Body", whole),)),))
    message = parsed(compose(replace(REQUEST, request=view), FRAME))
    attached = next(message.iter_attachments())
    assert attached.get_content().replace("\r\n", "\n") == whole
    assert "SHA-256" in plain(compose(replace(REQUEST, request=view), FRAME))


def test_files_keep_their_names_and_bytes() -> None:
    files = (
        File("büro, größe.txt", "text/plain", b"x\r\ny"),
        File("a" * 300 + "é.bin", "application/pdf", bytes(range(256))),
    )
    attached = list(parsed(compose(replace(RESULT, files=files), FRAME)).iter_attachments())
    assert [part.get_filename() for part in attached] == [file.name for file in files]
    assert attached[1].get_content() == files[1].data


def test_footer_tells_model_tools_and_who_got_data() -> None:
    text = parts(compose(RESULT, FRAME))["text/plain"]
    assert "Assistant, demo (no AI), 2 s, 3 model calls" in text
    assert "Tools: send_mail 1 (approved)" in text
    assert "Data went to: nobody outside this machine" in text


def test_an_unknown_cost_is_never_nothing() -> None:
    real = replace(FOOTER, demo=False, model="anthropic/x", tokens=5310)
    assert "cost unknown" in parts(compose(replace(RESULT, footer=real), FRAME))["text/plain"]


def test_activity_tells_the_story_and_has_no_thread_headers() -> None:
    view = ActivityView(
        "s", "Summariser: Notes", "done", 0, 1, 6.0, None, (ActivityLine(0, "read notes"),), Decimal(0), True
    )
    raw = compose(replace(RESULT, kind=Kind.ACTIVITY, activity=view, body="", in_reply_to=None), FRAME)
    assert "Thread-Index" not in parsed(raw)
    assert "read notes" in parts(raw)["text/plain"]


HEADER_TEXT = st.text(st.characters(codec="utf-8"), max_size=200)


@given(subject=HEADER_TEXT, name=HEADER_TEXT)
def test_no_value_can_add_a_header(subject: str, name: str) -> None:
    raw = compose(replace(RESULT, subject=subject), replace(FRAME, display=name))
    head = raw.partition(b"\r\n\r\n")[0].decode("ascii")
    names = [line.partition(":")[0] for line in head.split("\r\n") if not line.startswith(" ")]
    assert names.count("Subject") == 1
    assert "Bcc" not in names
    assert set(names) <= {
        "From", "To", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "Thread-Topic", "Thread-Index",
        "Auto-Submitted", "Postroom-Thread", "Postroom-Run", "Postroom-State", "MIME-Version", "Content-Type",
    }  # packed, to be seen at a glance  # fmt: skip


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=400))
def test_text_survives_its_encoding(text: str) -> None:
    entity = email.message_from_bytes(mime.text_entity("plain", text).render())
    payload = entity.get_payload(decode=True)
    assert isinstance(payload, bytes)
    assert payload.decode().replace("\r\n", "\n").rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize("auto", [True, False])
def test_mail_for_the_outside_carries_no_marks_of_ours(auto: bool) -> None:
    mail = OutsideMail(("maya@example.org", "tom@example.org"), "Grüße", "Hi\n.dot\nFrom x", "", ())
    raw = compose_outside(mail, "ada@example.net", "Ada", "<1@x>", 0, auto=auto)
    message = parsed(raw)
    assert message["From"] == "Ada <ada@example.net>"
    assert [str(one.addr_spec) for one in message["To"].addresses] == ["maya@example.org", "tom@example.org"]
    assert ("Auto-Submitted" in message) is auto
    assert not [name for name, _ in message.items() if name.startswith("Postroom") or name == "Thread-Index"]
    assert message.get_content().replace("\r\n", "\n") == "Hi\n.dot\nFrom x\n"


@pytest.mark.parametrize("choices", [(), ("Monday", "Tuesday & Wednesday")])
def test_a_question_lists_its_choices_and_no_empty_list(choices: tuple[str, ...]) -> None:
    view = replace(VIEW, items=(), question="Which day?", choices=choices)
    forms = parts(compose(replace(REQUEST, request=view), FRAME))
    assert ("<ul>" in forms["text/html"]) == bool(choices)
    assert all(f"* {choice}" in forms["text/plain"] for choice in choices)
    assert "Tuesday &amp; Wednesday" in forms["text/html"] or not choices
