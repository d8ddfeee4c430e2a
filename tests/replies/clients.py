"""Replies as the usual mail programs write them, made from the user's words and the mail that is answered.

One rule: every shape here was taken from how the program really lays out a reply; the words go in unchanged.
"""

import html
from collections.abc import Callable
from dataclasses import dataclass

from bridge.post.reading import SentMail, SentTable

TOKEN = "k7q2w9e4r5t8y1u3i6o0p2a4s6"
ADDRESS = f"action+{TOKEN}@postroom.internal"
SENT_ID = "<req-77.1@postroom.internal>"
SUBJECT = "Approve? Send mail to maya@example.org [A-7F3K]"
SENT_TEXT = """Assistant wants to send one mail, as you asked in "Notes from Tuesday".

1. Send mail
| To       maya@example.org   (new: you have never written to this address here)
| Subject  Summary of Tuesday's notes
| Body     Hi Maya,
|
|          three points from Tuesday: the budget, the venue and the date.
| Attached none

2. Send mail
| To       tom@example.org
| Subject  The same in short

It read untrusted text before asking: notes.txt (your attachment).
So far this task took 14 s, 2 tools, 0.004 EUR. It waits for you until Wed 2 Dec, 09:12.

To let it go ahead, answer this mail with the single word "approve"; to refuse, with "reject" and, if you like, a reason
after a colon. Anything else you write goes to the agent, and nothing is sent. To change it first, write "edit" and the
new lines.

Approve: mailto:action+k7q2w9e4r5t8y1u3i6o0p2a4s6@postroom.internal?subject=Re&body=approve
"""
SENT = SentMail(
    token=TOKEN,
    message_id=SENT_ID,
    address=ADDRESS,
    subject=SUBJECT,
    text=SENT_TEXT,
    items=(1, 2),
    grant=True,
    names=("Assistant", "Postroom"),
    request="77",
)
OTHER = SentMail(
    "zz99zz99zz99zz99", "<req-78.1@postroom.internal>", "action+zz99zz99zz99zz99@postroom.internal", "Other", "Other\n"
)
TABLE = SentTable((SENT, OTHER))
ON = "On Tue, 3 Mar 2026 at 09:14, Assistant <"


@dataclass(frozen=True, slots=True)
class Person:
    """Who answers."""

    name: str = "Ada Byron"
    address: str = "you@postroom.internal"


ADA = Person()


def head(
    *extra: str, person: Person = ADA, subject: str = "Re: " + SUBJECT, to: str = ADDRESS, bound: bool = True
) -> str:
    """The fields of a reply; `extra` come last."""
    rows = [
        f"From: {person.name} <{person.address}>",
        f"To: Postroom <{to}>",
        f"Subject: {subject}",
        "Date: Tue, 3 Mar 2026 10:00:00 +0100",
        "Message-ID: <reply-1@client.example>",
        "MIME-Version: 1.0",
    ]
    rows += [f"In-Reply-To: {SENT_ID}", f"References: {SENT_ID}"] if bound else []
    return "\r\n".join([*rows, *extra])


def whole(fields: str, body: str, charset: str = "utf-8") -> bytes:
    return (fields + "\r\n\r\n").encode("utf-8") + body.replace("\r\n", "\n").replace("\n", "\r\n").encode(charset)


def quote(text: str = SENT_TEXT, mark: str = "> ") -> str:
    return "\n".join((mark + row).rstrip() for row in text.rstrip("\n").split("\n"))


def text_mail(body: str, *extra: str, subject: str = "Re: " + SUBJECT, to: str = ADDRESS, bound: bool = True) -> bytes:
    fields = head(*extra, "Content-Type: text/plain; charset=utf-8", subject=subject, to=to, bound=bound)
    return whole(fields, body)


def html_mail(body: str, *extra: str) -> bytes:
    return whole(head(*extra, "Content-Type: text/html; charset=utf-8"), body)


def both(plain: str, page: str, *extra: str) -> bytes:
    body = (
        f"--b1\nContent-Type: text/plain; charset=utf-8\n\n{plain}\n"
        f"--b1\nContent-Type: text/html; charset=utf-8\n\n{page}\n--b1--\n"
    )
    return whole(head(*extra, 'Content-Type: multipart/alternative; boundary="b1"'), body)


def mixed(*parts: str) -> bytes:
    body = "".join(f"--m1\n{part}\n" for part in parts) + "--m1--\n"
    return whole(head('Content-Type: multipart/mixed; boundary="m1"'), body)


def plain_part(text: str) -> str:
    return f"Content-Type: text/plain; charset=utf-8\n\n{text}"


def rows(text: str, tag: str = "div") -> str:
    """Each line as an element of its own."""
    return "".join(f"<{tag}>{html.escape(row) or '<br>'}</{tag}>" for row in text.split("\n"))


def broken(text: str = SENT_TEXT) -> str:
    return "<br>\n".join(html.escape(row) for row in text.rstrip("\n").split("\n"))


def thunderbird(words: str) -> bytes:
    return whole(
        head("User-Agent: Mozilla Thunderbird", "Content-Type: text/plain; charset=UTF-8; format=flowed"),
        f"On 3/3/26 09:14, Assistant wrote:\n{quote()}\n\n{words}\n\n-- \nAda\n",
    )


def thunderbird_top(words: str) -> bytes:
    return text_mail(
        f"{words}\n\nAm 03.03.26 um 09:14 schrieb Assistant:\n{quote()}\n", "User-Agent: Mozilla Thunderbird"
    )


def thunderbird_html(words: str) -> bytes:
    page = (
        f'<html><body><p>{html.escape(words).replace(chr(10), "<br>")}</p><div class="moz-cite-prefix">On '
        f"3/3/26 09:14, Assistant wrote:<br></div>"
        f'<blockquote type="cite" cite="mid:x"><pre class="moz-quote-pre" wrap="">{html.escape(SENT_TEXT)}</pre>'
        f"</blockquote>"
        '<div class="moz-signature">-- <br>Ada</div></body></html>'
    )
    return both(f"{words}\n\nOn 3/3/26 09:14, Assistant wrote:\n{quote()}\n\n-- \nAda\n", page)


def gmail(words: str) -> bytes:
    page = (
        f'<div dir="ltr">{rows(words)}</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" '
        f'class="gmail_attr">{html.escape(ON)}'
        f'<a href="mailto:{ADDRESS}">{ADDRESS}</a>&gt; wrote:<br></div><blockquote class="gmail_quote" '
        f'style="margin:0px 0px 0px 0.8ex;'
        f'border-left:1px solid rgb(204,204,204);padding-left:1ex">{broken()}<br></blockquote></div>'
    )
    return both(f"{words}\n\n{ON}\n{ADDRESS}> wrote:\n\n{quote()}\n", page)


def outlook(words: str) -> bytes:
    block = (
        f"From: Assistant <{ADDRESS}>\nSent: Tuesday, March 3, 2026 9:14 AM\n"
        f"To: Ada Byron <you@postroom.internal>\nSubject: {SUBJECT}"
    )
    page = (
        "<html><head><style><!-- p.MsoNormal {margin:0cm;} --></style></head><body lang=EN-US><div class=WordSection1>"
        + "".join(f"<p class=MsoNormal>{html.escape(row) or '&nbsp;'}<o:p></o:p></p>" for row in words.split("\n"))
        + "<p class=MsoNormal><o:p>&nbsp;</o:p></p><div style='border:none;border-top:solid #E1E1E1 1.0pt'><p "
        "class=MsoNormal><b>From:</b> Assistant "
        + f"&lt;{ADDRESS}&gt;<br><b>Sent:</b> Tuesday, March 3, 2026 9:14 AM<br><b>To:</b> Ada Byron<br><b>"
        f"Subject:</b> {html.escape(SUBJECT)}</p></div>"
        + "".join(f"<p class=MsoNormal>{html.escape(row) or '&nbsp;'}</p>" for row in SENT_TEXT.split("\n"))
        + "</div></body></html>"
    )
    return both(f"{words}\n\n{block}\n\n{SENT_TEXT}", page, "Thread-Index: AdrBQS0xMDQyo8kT0QmRvYw3HqPz1aBAAAF7uQ")


def outlook_plain(words: str) -> bytes:
    return text_mail(
        f"{words}\n\n-----Original Message-----\nFrom: Assistant [mailto:{ADDRESS}] \nSent: Tuesday, March 3, "
        f"2026 9:14 AM\n"
        f"To: Ada Byron\nSubject: {SUBJECT}\n\n{SENT_TEXT}"
    )


def apple(words: str) -> bytes:
    page = (
        f'<html><body style="overflow-wrap: break-word;">{rows(words)}<div><br><blockquote type="cite"><div>'
        f"{html.escape(ON)}{ADDRESS}&gt; wrote:</div>"
        f'<br class="Apple-interchange-newline"><div>{broken()}</div></blockquote></div><br></body></html>'
    )
    return both(f"{words}\n\n{quote(f'{ON}{ADDRESS}> wrote:')}\n> \n{quote()}\n", page, "X-Mailer: Apple Mail (2.3826)")


def iphone(words: str) -> bytes:
    return text_mail(
        f"{words}\n\nSent from my iPhone\n\n{quote(f'{ON}{ADDRESS}> wrote:')}\n> \n> \ufeff{quote()[2:]}\n"
    )


def mutt(words: str) -> bytes:
    return text_mail(
        f"On Tue, Mar 03, 2026 at 09:14:22AM +0100, Assistant wrote:\n{quote()}\n\n{words}\n\n-- \nada\n",
        "User-Agent: Mutt/2.2.13",
    )


def yahoo(words: str) -> bytes:
    body = "\n".join(" " + row for row in SENT_TEXT.rstrip("\n").split("\n"))
    return text_mail(
        f" {words}\n\n    On Tuesday, March 3, 2026 at 09:14:22 AM GMT+1, Assistant <{ADDRESS}> wrote:  \n \n"
        f"{body}\n  \n"
    )


def samsung(words: str) -> bytes:
    return text_mail(
        f"{words}\n\n\n\nSent from my Galaxy\n\n\n-------- Original message --------\nFrom: Assistant "
        f"<{ADDRESS}> \nDate: 3/3/26  09:14  (GMT+01:00) \n"
        f"To: Ada Byron <you@postroom.internal> \nSubject: {SUBJECT} \n\n{SENT_TEXT}"
    )


def roundcube(words: str) -> bytes:
    return text_mail(
        f"{words}\n\nOn 2026-03-03 09:14, Assistant wrote:\n\n{quote()}\n", "User-Agent: Roundcube Webmail/1.6"
    )


def no_quote(words: str) -> bytes:
    return text_mail(f"{words}\n")


CLIENTS: dict[str, Callable[[str], bytes]] = {
    "thunderbird": thunderbird,
    "thunderbird_top": thunderbird_top,
    "thunderbird_html": thunderbird_html,
    "gmail": gmail,
    "outlook": outlook,
    "outlook_plain": outlook_plain,
    "apple": apple,
    "iphone": iphone,
    "mutt": mutt,
    "yahoo": yahoo,
    "samsung": samsung,
    "roundcube": roundcube,
    "no_quote": no_quote,
}


def file_beside(raw: bytes, kind: str) -> bytes:
    """The mail with a file hung onto it."""
    how = 'Content-Disposition: attachment; filename="a.bin"'
    return _beside(raw, f'Content-Type: {kind}; name="a.bin"\r\n{how}\r\n\r\nx')


def text_beside(raw: bytes, text: str) -> bytes:
    """The mail with one more text part."""
    return _beside(raw, f"Content-Type: text/plain; charset=utf-8\r\n\r\n{text}")


def _beside(raw: bytes, part: str) -> bytes:
    fields, _, body = raw.partition(b"\r\n\r\n")
    kept: list[bytes] = []
    inner: list[bytes] = []
    moved = False
    for row in fields.split(b"\r\n"):
        if not row.startswith((b" ", b"\t")):
            moved = row.lower().startswith((b"content-type:", b"content-transfer-encoding:"))
        (inner if moved else kept).append(row)
    kept.append(b'Content-Type: multipart/mixed; boundary="outer-b"')
    return b"\r\n".join(
        [*kept, b"", b"--outer-b", *inner, b"", body, b"--outer-b", part.encode("utf-8"), b"--outer-b--", b""]
    )
