"""Kinds that a reader missed once: clients of more languages, signatures, and remarks where nobody looks."""

import html

from tests.replies.case import ATTRIBUTION, Case, encoded, page
from tests.replies.clients import (
    ADDRESS,
    SENT_TEXT,
    SUBJECT,
    both,
    broken,
    gmail,
    head,
    html_mail,
    quote,
    text_mail,
    whole,
)  # packed, to be seen at a glance  # fmt: skip

_WROTE = [
    "Le 03/03/2026 à 09:14, Assistant a écrit :",
    "W dniu 03.03.2026 o 09:14, Assistant pisze:",
    "Dňa 3. 3. 2026 o 9:14 Assistant napísal(a):",
    "На 3.03.26 г. в 9:14, Assistant написа:",
    "Dana 03.03.2026. u 09:14, Assistant je napisao/la:",
    "Dne 3. 03. 2026 ob 09:14 je Assistant napisal(a):",
    "Assistant kirjutas 03.03.2026 kell 9:14:",
    "2026-03-03 09:14, Assistant rašė:",
    "Þann 3.3.2026 09:14, skrifaði Assistant:",
    f"Assistant <{ADDRESS}> ezt írta (időpont: 2026.\nmárc. 3., K, 9:14):",
    f"ב-3 במרץ 2026, בשעה 9:14,\u200f Assistant <{ADDRESS}> כתב/ה:",
]
_LABELS = [
    ("Från", "Skickat", "Till", "Ämne"),
    ("Lähettäjä", "Lähetetty", "Vastaanottaja", "Aihe"),
    ("Feladó", "Elküldve", "Címzett", "Tárgy"),
    ("发件人", "发送时间", "收件人", "主题"),
    ("보낸 사람", "보낸 날짜", "받는 사람", "제목"),
    ("מאת", "נשלח", "אל", "נושא"),
    ("Kutoka", "Imetumwa", "Kwa", "Mada"),
]


def block(labels: tuple[str, ...] = ("From", "Sent", "To", "Subject"), gap: str = " ") -> str:
    values = (f"Assistant <{ADDRESS}>", "2026-03-03 09:14 (GMT+01:00)", "Ada Byron <you@postroom.internal>", SUBJECT)
    return "\n".join(f"{label}:{gap}{value}" for label, value in zip(labels, values, strict=True))


def under_block(words: str, lines: str, text: str = SENT_TEXT) -> bytes:
    return text_mail(f"{words}\n\n{lines}\n\n{text}")


FRAMED = [
    *(Case(f"wrote: {line}", text_mail(f"yes\n\n{line}\n{quote()}\n"), "approve", "yes") for line in _WROTE),
    *(Case(f"header block: {row[0]}", under_block("reject", block(row)), "reject", "reject") for row in _LABELS),
    Case("header block in columns", under_block("Approved", block(gap=" " * 9)), "approve", "Approved"),
    Case(
        "header block that was wrapped",
        under_block("approve", block().replace("Assistant <", "Assistant\n<").replace(" to maya", " to\nmaya")),
        "approve",
        "approve",
    ),
    Case("words before the attribution", text_mail(f"approve\n\nExcept item 2 {ATTRIBUTION}\n{quote()}\n"), "respond"),
    Case("a line of ours above the header block", under_block("approve\nDeadline: 6 March 18:00", block()), "respond"),
    Case("remark at the end of the header block", under_block("approve", block() + "\nPS: half of it"), "respond"),
    Case(
        "remark within the header block",
        under_block("approve", block().replace("\nTo:", "\nWarte auf Anna\nTo:")),
        "respond",
    ),
]

_SENT_WITH = [
    "Odesláno z iPhonu",
    "Enviado do meu iPhone",
    "Outlook für iOS<https://aka.ms/o0ukef> beziehen",
    "Hent Outlook til iOS<https://aka.ms/o0ukef>",
    "Gesendet von Mail für Windows",
    "Sent from eM Client | www.emclient.com",
    "Virus-free. www.avast.com",
    "Example GmbH, Sitz: Berlin, Amtsgericht Charlottenburg HRB 12345, Geschäftsführer: Jo Weber",
]
_BELOW = [
    "Warte auf Anna",
    "Zaczekaj do piątku",
    "Odota perjantaihin",
    "Chờ đến thứ sáu",
    "Подожди до пятницы",
    "金曜日まで待って",
    "After Friday",
    "EUR 380",
    "Item 1",
    "Nr. 1 | Nr. 3",
]

SIGNED = [
    *(Case(f"under it: {line}", gmail(f"approve\n\n{line}"), "approve", "approve") for line in _SENT_WITH),
    *(Case(f"under the name: {line}", gmail(f"approve\n\nThanks,\nAda\n{line}"), "respond") for line in _BELOW),
    *(Case(f"behind the product: {line}", gmail(f"approve\n\nSent from my iPhone - {line}"), "respond")
      for line in _BELOW[:4]),
    Case("sad thanks", gmail("approve\n\nThanks :("), "respond"),
    Case("footer that goes on", gmail("approve\n\nThis email is confidential. Do not pay before Friday."), "respond"),
    Case("initial and family name", gmail("approve\n\nA. Byron"), "approve", "approve"),
    Case("closing in two languages", gmail("approve\n\nKind regards / Viele Grüße\nAda"), "approve", "approve"),
    Case("signature in one row", gmail("approve\n\nAda Byron | Purchasing | +46 8 123 456"), "approve", "approve"),
    Case("signature and nothing else", text_mail("\n-- \napprove\n"), "none", ""),
]  # packed, to be seen at a glance  # fmt: skip


def in_quote(old: str, new: str) -> bytes:
    assert old in SENT_TEXT
    return text_mail(f"approve\n\n{ATTRIBUTION}\n{quote(SENT_TEXT.replace(old, new, 1))}\n")


_WORD = next(word for word in SENT_TEXT.split() if word.isalpha() and len(word) > 5)

REMARKED = [
    Case("cross in a quoted row", in_quote(_WORD, f"❌ {_WORD}"), "respond", None, "inside-quote"),
    Case("question marks in a quoted row", in_quote(_WORD, f"{_WORD} ???"), "respond", None, "inside-quote"),
    Case("arrow in the quote", in_quote("\n", "\n<---\n"), "respond", None, "inside-quote"),
    Case(
        "struck out in the quote",
        html_mail(page("approve").replace(_WORD, f"<s>{_WORD}</s>", 1)),
        "respond",
        None,
        "struck-out",
    ),
    Case(
        "picture put into the quote",
        html_mail(f'<div>approve</div><blockquote>{broken()}<img src="cid:a" alt="NO"></blockquote>'),
        "respond",
        None,
        "hidden-text",
    ),
    *(
        Case(f"seen by some: {how}", html_mail(page("approve</div>" + more + "<div>")), "respond", None, "hidden-text")
        for how, more in {
            "white": '<p style="color: rgb(255, 255, 255)">but only half</p>',
            "pale": '<p style="color:#fbfbfb">but only half</p>',
            "font": '<font color="#FFFFFF">but only half</font>',
            "tiny": '<p style="font-size:1px">but only half</p>',
            "print": "<style>@media print{.c{display:none}}</style><p class=c>but only half</p>",
            "added": '<style>.n::before{content:"do not "}</style>',
            "turned": "<style>.n{unicode-bidi:bidi-override}</style>",
            "field": "<textarea>but only half</textarea>",
            "noscript": "<noscript>but only half</noscript>",
        }.items()
    ),
]

_UNSEEN = [
    "opacity:0.01",
    "zoom:0",
    "filter:opacity(0)",
    "letter-spacing:-1em",
    "width:1px;height:1px;overflow:hidden",
    "background:black;color:#000",
    "background-color:#112233;color:#112234",
    "font:0/0 a",
    "font:1px Arial",
    "color:hsla(0,0%,0%,0)",
    "color:#0000",
    "color:rgb(0 0 0 / 0)",
    "position:absolute;left:-99em",
    "color:black;color:white",
    "color:#fff;color:#333",
]
_SHEETS = [
    ("words from an attribute", "respond", '<style>p:before{content:attr(x)}</style><p x="do not ">approve</p>'),
    ("white by a stylesheet", "none", "<style>div.x p{color:#fff}</style><div class=x><p>approve</p></div>"),
    ("black on black", "none", '<table bgcolor="#000"><tr><td><font color=black>approve</font></td></tr></table>'),
    ("shown again", "respond", '<p>approve</p><p style="display:none;display:block">not to Tom</p>'),
    ("shown by its style", "respond", '<p>approve</p><p hidden style="display:block">not to Tom</p>'),
    ("hidden from one program", "respond", '<p>approve</p><p style="mso-hide:all">not to Tom</p>'),
    ("hidden from nobody knows whom", "respond", "<style>[x]{display:none}</style><p x>approve</p>"),
    ("a dialog", "respond", "<dialog>approve</dialog>"),
    ("details", "respond", "<details><summary></summary>approve</details>"),
]

MENDED = [
    *(Case(f"unseen: {style}", html_mail(page(f'<p style="{style}">approve</p>')), "none") for style in _UNSEEN),
    *(Case(f"unseen: {name}", html_mail(page(body)), decision) for name, decision, body in _SHEETS),
    Case("hidden by an element's style", html_mail("<style>b{display:none}</style><b>approve</b>"), "none"),
    Case("words in the head", html_mail("<head>not to Tom<style></style></head><body>approve</body>"), "respond"),
    Case("white by the body", html_mail('<body text="#ffffff"><p>approve</p></body>'), "none"),
    Case("head that never closes", html_mail("<head><style>p{}</style><div>reject</div>"), "reject", "reject"),
    Case("a thumb that is any picture", html_mail('<div><img src="cid:x" alt="👍"></div>'), "respond"),
    Case("picture of a word", html_mail('<div><img src="https://x.example/y.png" alt="はい"></div>'), "respond"),
    *(
        Case(f"face or doubt: {words}", gmail(words), "respond")
        for words in ("ok >:(", "ok :{", "ok :,(", "ok *_*", "ok (", "approve.  .", "approve.。", "approve.!.")
    ),
    Case("refusal, then yes", gmail("reject\n\nyes"), "respond", None, "both-words"),
    Case("unknown transfer encoding", encoded(b"approve", "text/plain", "x-rot13"), "respond", None, "undecodable"),
    Case(
        "reaction in HTML alone",
        html_mail("<div>👍 Ada Byron reacted to your message:</div><hr>" + broken()),
        "none",
        auto=True,
    ),
    Case("accepted by subject", text_mail("approve\n", subject="Accepted: " + SUBJECT), "none", auto=True),
    Case("read, in chinese", whole(head(), "批准").replace(b"Subject: Re: ", b"Subject: Read: "), "none", auto=True),
    Case("both parts with a bare tail", both("approve\n\nAda", "<div>approve</div><div>Ada</div>"), "approve"),
]

_STRANGER = (
    "This e-mail and any attachments are confidential and intended solely for the addressee. If you have received it in"
    " error, please notify the sender and delete it. The information contained may be legally privileged and any"
    " unauthorised disclosure is forbidden. We check all mails for viruses and take no liability for it."
)
_FOOTERS_THAT_SAY_MORE = [
    "This email is confidential so do not send it to Tom.",
    "This email is confidential, only for Maya.",
    "This message is confidential: nobody but Maya may read it.",
    "Diese E-Mail ist vertraulich, also nur an Maya.",
    "Diese E-Mail ist vertraulich, bitte erst morgen.",
    "Example Ltd, company number 123, vat no 55, Tom excluded",
    "Please consider the environment before sending this email to Tom.",
    "This email must be printed and sent by post to Maya, confidential.",
    "This email is confidential. Wrong sum.",
    "This email is confidential; see below",
    f"{_STRANGER} Do not send it to Tom.",
    f"{_STRANGER} Wrong sum.",
    f"Use the other address. {_STRANGER}",
    f"{_STRANGER} This message must go out after Friday.",
]

_UNDER_THE_NAME = [
    "Needs Legal Review",
    "Half Of It",
    "418 EUR, 300 EUR",
    "1000000",
    "Amount 1000000",
    "2026-12-24 10:00:00",
    "bob@example.org",
    "IBAN DE89370400440532013000",
    "Ring Bob +46 8 123 456 about the sum",
    "👎 +46 8 123 456",
    "Get nine",
    "1 200 000",
    "12,500.00",
    "Order 7781 22 33",
    "Invoice 123-456-789",
    "Bob 123 456 789",
    "Call 123 456 789",
    "Office: the other one\n+46 8 123 456",
    "ada.byron@example.org wrong",
    "Sent from my iPhone 12.",
    "Sent from my iPhone :(",
    "明天再发 Get Outlook for iOS",
    "Get Outlook for iOS and the budget",
    "Virus-free. Wrong sum. www.avast.com",
    "Disclaimer: the second one is confidential and must not be printed.",
    "Confidentiality: leave the budget out, it is privileged and confidential.",
    "This message is only for the venue, the budget is confidential.",
]

_JOINED = " ".join(SENT_TEXT.split())
_IN_ONE = f"{html.escape(ATTRIBUTION)} {html.escape(_JOINED)}"

FOOTED = [
    Case("a long footer", gmail(f"approve\n\nAda\n\n{_STRANGER}"), "approve", "approve"),
    *(
        Case(f"a footer that says more: {said[-40:]}", gmail(f"approve\n\nAda\n\n{said}"), "respond")
        for said in _FOOTERS_THAT_SAY_MORE
    ),
    *(Case(f"under the name: {said}", gmail(f"approve\n\nAda\n{said}"), "respond") for said in _UNDER_THE_NAME),
    *(
        Case(
            f"a signature that says more: {said}",
            text_mail(f"approve\n\n-- \nAda Byron\n{said}\n+46 8 123 456\n"),
            "respond",
        )
        for said in ("Maya first", "Tom & Partners", "send tomorrow", "Nothing for Bob", "明天发给采购部")
    ),
    Case(
        "the quote in one line, and more",
        html_mail(
            f"<div>approve</div><blockquote>{_IN_ONE} but not to Tom</blockquote>"
        ),
        "respond",
        None,
        "inside-quote",
    ),
    Case(
        "the quote in one line without marks, and more",
        text_mail(f"approve\n\n{ATTRIBUTION} {_JOINED} but not to Tom\n"),
        "respond",
    ),
    Case(
        "words before a day",
        text_mail(f"approve\n\nTell Tom, 3 March 2026 09:14, you wrote:\n{quote()}\n"),
        "respond",
    ),
    Case("eM Client's block, typed", text_mail("approve\n\n-----\nTo Maya only\nSubject something else\n"), "respond"),
    Case(
        "eM Client's block with a name that speaks",
        text_mail(
            f'approve\n\n------ Original Message ------\nFrom "Assistant" <{ADDRESS}>\n'
            f'To "not to Tom" <you@postroom.internal>\nSubject {SUBJECT}\n\n{SENT_TEXT}'
        ),
        "respond",
    ),
]  # packed, to be seen at a glance  # fmt: skip
