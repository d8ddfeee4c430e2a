"""Our own corpus: other clients, languages and tricks, each a kind of its own, with the right reading.

One rule: a case says what a careful person would read; where two readings are possible the expected
one releases nothing.
"""

import base64
from dataclasses import dataclass

from tests.replies.clients import (
    ADDRESS,
    OTHER,
    SENT_TEXT,
    SUBJECT,
    Person,
    apple,
    both,
    broken,
    gmail,
    head,
    html_mail,
    iphone,
    mixed,
    mutt,
    outlook,
    outlook_plain,
    plain_part,
    quote,
    roundcube,
    samsung,
    text_mail,
    thunderbird,
    thunderbird_html,
    whole,
    yahoo,
)


@dataclass(frozen=True, slots=True)
class Case:
    """A mail and its right reading. `new_text` None: not compared. `near_miss` None: not compared."""

    name: str
    raw: bytes
    decision: str
    new_text: str | None = None
    near_miss: str | None = None
    auto: bool = False


ATTRIBUTION = f"On Tue, 3 Mar 2026 at 09:14, Assistant <{ADDRESS}> wrote:"


def encoded(text: bytes, content_type: str, transfer: str = "base64") -> bytes:
    body = base64.encodebytes(text).decode() if transfer == "base64" else text.decode("latin-1")
    return whole(head(f"Content-Type: {content_type}", f"Content-Transfer-Encoding: {transfer}"), body, "latin-1")


def file_part(name: str, kind: str = "text/plain", text: str = "approve", how: str = "attachment") -> str:
    return f'Content-Type: {kind}; name="{name}"\nContent-Disposition: {how}; filename="{name}"\n\n{text}'


def page(words: str, extra: str = "") -> str:
    return f'<html>{extra}<body><div>{words}</div><blockquote type="cite">{broken()}</blockquote></body></html>'


APPROVED = [
    Case("typographic apostrophe", gmail("J’approuve"), "approve", "J’approuve"),
    Case("base64 with a BOM", encoded("\ufeffapprove\r\n".encode(), "text/plain; charset=utf-8"), "approve", "approve"),
    Case("utf-16", encoded("approve\r\n".encode("utf-16"), "text/plain; charset=utf-16"), "approve", "approve"),
    Case("no charset at all", whole(head(), "approve\n\n" + ATTRIBUTION + "\n" + quote()), "approve", "approve"),
    Case(
        "windows-1251 russian",
        encoded("Одобряю".encode("cp1251"), "text/plain; charset=windows-1251"),
        "approve",
        "Одобряю",
    ),
    Case("big5 chinese", encoded("同意".encode("big5"), "text/plain; charset=big5"), "approve", "同意"),
    Case(
        "shift_jis japanese",
        encoded("承認します。".encode("shift_jis"), "text/plain; charset=Shift_JIS"),
        "approve",
        "承認します。",
    ),
    Case(
        "quoted-printable soft break",
        encoded(b"appro=\r\nve\r\n", "text/plain", "quoted-printable"),
        "approve",
        "approve",
    ),
    Case(
        "format=flowed with delsp",
        whole(head("Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes"), "承 \n認\n\n" + quote()),
        "approve",
        "承認",
    ),
    Case("supercite marks", text_mail("approve\n\n" + ATTRIBUTION + "\n" + quote(mark="A> ")), "approve", "approve"),
    Case("quote without a blank behind the mark", text_mail("approve\n\n" + quote(mark=">")), "approve", "approve"),
    Case(
        "quote of a quote",
        text_mail(f"approve\n\n{ATTRIBUTION}\n{quote()}\n>\n{quote(mark='>> ')}"),
        "approve",
        "approve",
    ),
    Case("attribution without a quote", text_mail(f"approve\n\n{ATTRIBUTION}\n"), "approve", "approve"),
    Case(
        "trimmed with an elision",
        text_mail(f"{ATTRIBUTION}\n> Assistant wants to send one mail\n[…]\n> 1. Send mail\n\napprove\n"),
        "approve",
        "approve",
    ),
    Case(
        "rewrapped quote",
        text_mail(
            "approve\n\n"
            + ATTRIBUTION
            + "\n"
            + quote(SENT_TEXT.replace(' as you asked in "Notes', '\nas you asked in\n"Notes'))
        ),
        "approve",
        "approve",
    ),
    Case(
        "signature above the quote",
        text_mail(f"approve\n-- \nAda Byron, Analytical Engines\n\n{ATTRIBUTION}\n{quote()}"),
        "approve",
        "approve",
    ),
    Case(
        "corporate signature",
        outlook(
            "Approved\n\nKind regards\n\nAda Byron\nHead of Engines | Example Ltd\nT +44 20 5550 0199 | "
            "you@postroom.internal"
        ),
        "approve",
        "Approved",
    ),
    Case(
        "disclaimer of a gateway under the quote",
        outlook_plain("approve").rstrip()
        + b"\r\n\r\nThis e-mail is confidential and intended solely for the addressee. If you are not the "
        b"intended recipient, delete it.\r\n",
        "approve",
        "approve",
    ),
    Case(
        "virus scanner's line",
        text_mail(f"approve\n\n-- \nVirus-free. www.avast.com\n\n{ATTRIBUTION}\n{quote()}"),
        "approve",
        "approve",
    ),
    Case(
        "german phone",
        text_mail(f"genehmigt\n\nVon meinem iPhone gesendet\n\n{quote(ATTRIBUTION)}\n{quote()}"),
        "approve",
        "genehmigt",
    ),
    Case(
        "k-9 in german",
        text_mail(
            f"genehmigt\n-- \nDiese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.\n\n{quote()}"
        ),
        "approve",
        "genehmigt",
    ),
    Case("thanks and a name", gmail("approve\n\nMany thanks,\nAda Byron"), "approve", "approve"),
    Case("thanks and name on one line", mutt("approve\n\nThanks, Ada"), "approve", "approve"),
    Case("initials", text_mail("approve\n\nAB\n"), "approve", None),
    Case("exclamation", apple("Approved!!!"), "approve", "Approved!!!"),
    Case("curly quotes", iphone("“approve”"), "approve", "“approve”"),
    Case("markdown bold", roundcube("**approve**"), "approve", "**approve**"),
    Case("two items", outlook("approve 1, 2"), "approve", "approve 1, 2"),
    Case("one item", yahoo("approve 2"), "approve", "approve 2"),
    Case("always", samsung("Always approve"), "approve", "Always approve"),
    Case("html table", html_mail(page("<table><tr><td>approve</td></tr></table>")), "approve", "approve"),
    Case("html pre", html_mail(page("<pre>approve\n</pre>")), "approve", "approve"),
    Case("html entities", html_mail(page("&#97;pprove&nbsp;")), "approve", "approve"),
    Case("html word in pieces", html_mail(page("<b>app</b><i>rove</i>")), "approve", "approve"),
    Case(
        "html with a base and comments",
        html_mail(page("<!-- a > b --><base href='x'>approve<!-- no -->")),
        "approve",
        "approve",
    ),
    Case(
        "html hidden preheader", html_mail(page('<div style="display:none">read me</div>approve')), "approve", "approve"
    ),
    Case("emoji picture", html_mail(page('<img data-emoji="👍" class="an1" alt="👍" src="cid:x">')), "approve", "👍"),
    Case(
        "picture in the signature",
        whole(
            head('Content-Type: multipart/related; boundary="r"'),
            "--r\nContent-Type: text/html\n\n"
            + page('approve<br><br>Ada Byron<br><img src="cid:logo@x" width="120">')
            + "\n--r\nContent-Type: image/png; name=logo.png\nContent-ID: <logo@x>\nContent-Disposition: inline\n"
            "Content-Transfer-Encoding: base64\n\niVBO\n--r--\n",
        ),
        "approve",
        "approve",
    ),
    Case(
        "key attached",
        mixed(plain_part("approve\n"), file_part("key.asc", "application/pgp-keys", "key")),
        "approve",
        "approve",
    ),
    Case("plain without html text", both("approve", "<html><body></body></html>"), "approve", "approve"),
    Case("address without its token", text_mail("approve\n", to="action@postroom.internal"), "approve", "approve"),
    Case("bound by token only", text_mail("approve\n", bound=False), "approve", "approve"),
    Case("subject changed", text_mail("approve\n", subject="something else"), "approve", "approve"),
    Case(
        "suppressing header",
        text_mail("approve\n", "X-Auto-Response-Suppress: All", "Feedback-ID: a:b", "Auto-Submitted: no"),
        "approve",
        "approve",
    ),
    Case(
        "absence in the middle of a subject",
        text_mail("approve\n", subject="Re: plan for out of office days"),
        "approve",
        "approve",
    ),
    Case("no-break blanks", text_mail("\u00a0go\u00a0ahead\u00a0\n"), "approve", "go ahead"),
    Case("czech", text_mail("Schváleno\n\nS pozdravem\nAda Byron\n"), "approve", "Schváleno"),
    Case("thai", text_mail("อนุมัติ\n"), "approve", "อนุมัติ"),
    Case("arabic with marks", text_mail("\u200fموافق\u200f\n"), "approve", "موافق"),
    Case("name of one word", text_mail("approve\n\nAda\n"), "approve", "approve"),
    Case(
        "japanese name",
        whole(head("Content-Type: text/plain; charset=utf-8", person=Person("佐藤 花子")), "承認\n\n佐藤\n"),
        "approve",
        "承認",
    ),
    Case(
        "winmail.dat without a file",
        mixed(plain_part("approve"), file_part("winmail.dat", "application/ms-tnef", "x")),
        "approve",
        "approve",
    ),
    Case(
        "s/mime signed around both forms",
        whole(
            head('Content-Type: multipart/signed; protocol="application/pkcs7-signature"; boundary="s"'),
            '--s\nContent-Type: multipart/alternative; boundary="a"\n\n--a\n\napprove\n--a\nContent-Type: '
            "text/html\n\n<p>approve</p>\n--a--\n"
            "--s\nContent-Type: application/pkcs7-signature; name=smime.p7s\nContent-Disposition: attachment; "
            "filename=smime.p7s\n\nMII=\n--s--\n",
        ),
        "approve",
        "approve",
    ),
    Case(
        "chinese attribution",
        text_mail(f"批准\n\nAssistant <{ADDRESS}> 于2026年3月3日周二 09:14写道：\n{quote()}"),
        "approve",
        "批准",
    ),
    Case(
        "polish attribution",
        text_mail(f"zatwierdzam\n\nwt., 3 mar 2026 o 09:14 Assistant <{ADDRESS}>\nnapisał(a):\n\n{quote()}"),
        "approve",
        "zatwierdzam",
    ),
    Case(
        "french attribution over three lines",
        text_mail(f"approuvé\n\nLe mar. 3 mars 2026 à 09:14, Assistant <\n{ADDRESS}> a\nécrit :\n\n{quote()}"),
        "approve",
        "approuvé",
    ),
    Case("bare outlook quote, no header block", text_mail(f"approve\n\n{SENT_TEXT}"), "approve", "approve"),
    Case(
        "k-9's own signature",
        text_mail("approve\n-- \nSent from my Android device with K-9 Mail. Please excuse my brevity.\n\n" + quote()),
        "approve",
        "approve",
    ),
    Case(
        "attribution and quote in one line",
        html_mail("<div>approve</div><blockquote>On 3/3/26 09:14, Assistant wrote:\n1. Send mail</blockquote>"),
        "approve",
        "approve",
    ),
    Case(
        "amp form beside",
        whole(
            head('Content-Type: multipart/alternative; boundary="a"'),
            (
                "--a\n\napprove\n--a\nContent-Type: text/x-amp-html\n\n<html>x</html>\n"
                "--a\nContent-Type: text/html\n\n<p>approve</p>\n--a--\n"
            ),
        ),
        "approve",
        "approve",
    ),
]

REFUSED = [
    Case(
        "refusal with a reason below",
        gmail("Reject\n\nToo soon, ask me on Monday."),
        "reject",
        "Reject\n\nToo soon, ask me on Monday.",
    ),
    Case("refusal with a reason on the line", outlook("reject: wrong person"), "reject", "reject: wrong person"),
    Case(
        "refusal in german with a reason", text_mail("Ablehnen: falsche Person\n"), "reject", "Ablehnen: falsche Person"
    ),
    Case("refusal of one item", thunderbird("reject 2"), "reject", "reject 2"),
    Case("refusal of one item with a reason", thunderbird_html("reject 2: too soon"), "reject", "reject 2: too soon"),
    Case("stop", iphone("Stop"), "reject", "Stop"),
    Case("refusal with a question as reason", text_mail("reject: why today?\n"), "reject", None),
    Case(
        "refusal that mentions an approval",
        text_mail("Reject.\nWe already approved this one in May.\n"),
        "reject",
        None,
    ),
    Case("refusal with a file", mixed(plain_part("reject"), file_part("why.txt")), "reject", "reject"),
    Case("turkish capitals", text_mail("HAYIR\n"), "reject", "HAYIR"),
]

EDITED = [
    Case(
        "edit with fields",
        gmail("edit\nTo: maya@work.example\nSubject: Summary"),
        "edit",
        "edit\nTo: maya@work.example\nSubject: Summary",
    ),
    Case("edit with json", mutt('edit\n{"to": "maya@work.example"}'), "edit", 'edit\n{"to": "maya@work.example"}'),
    Case("edit on the line", apple("edit: send it to maya@work.example"), "edit", "edit: send it to maya@work.example"),
    Case("edit with a dash", text_mail("Edit - send it tomorrow\n"), "edit", None),
    Case("edit in german", text_mail("Ändern\n\nAn: maya@work.example\n"), "edit", None),
]

DOUBTFUL = [
    Case("only the quote approves", text_mail(f"{ATTRIBUTION}\n{quote('approve')}\n"), "none", ""),
    Case("nothing new, bare quote", outlook(""), "none", ""),
    Case("subject alone", text_mail("\n", subject="approve"), "none", ""),
    Case("approval in a nested quote", text_mail(f"{ATTRIBUTION}\n{quote()}\n>> approve\n"), "respond"),
    Case("text under a bare quote", outlook_plain("approve").rstrip() + b"\r\n\r\nBut not to Tom.\r\n", "respond"),
    Case("one word under a bare quote", outlook_plain("approve").rstrip() + b"\r\n\r\nno\r\n", "respond"),
    Case("a face under a bare quote", outlook_plain("approve").rstrip() + b"\r\n\r\n\xf0\x9f\x91\x8e\r\n", "respond"),
    Case(
        "text under a marked quote", text_mail(f"approve\n\n{ATTRIBUTION}\n{quote()}\n\nBut not to Tom.\n"), "respond"
    ),
    Case(
        "text inside a bare quote",
        outlook_plain("approve").replace(b"2. Send mail", b"leave this one out\r\n\r\n2. Send mail"),
        "respond",
    ),
    Case(
        "text inside a marked quote",
        text_mail(
            f"approve\n\n{ATTRIBUTION}\n{quote().replace('> 2. Send', '> leave this out' + chr(10) + '> 2. Send')}\n"
        ),
        "respond",
    ),
    Case(
        "text inside an html quote",
        html_mail(f'<div>approve</div><blockquote type="cite">{broken()}<div>only the first</div></blockquote>'),
        "respond",
    ),
    Case("indented text of one's own", html_mail(page("approve<blockquote>only the first</blockquote>")), "respond"),
    Case("answer to a side question", text_mail("> Shall I use the work address?\n\nyes\n"), "respond"),
    Case("hidden approval", html_mail(page('<span style="display: none">approve</span>')), "none"),
    Case("approval in size zero", html_mail(page('<span style="font-size:0px">approve</span>')), "none"),
    Case("approval in white", html_mail(page('<span style="color:#FFF">approve</span>')), "none"),
    Case(
        "approval hidden by a stylesheet",
        html_mail(page('<p class="x">approve</p>', "<style>p.x { display : none }</style>")),
        "none",
    ),
    Case("approval off the page", html_mail(page('<p style="position:absolute;left:-9999px">approve</p>')), "none"),
    Case("approval in a comment", html_mail(page("<!-- approve -->")), "none"),
    Case("approval in a title", html_mail(page("", "<head><title>approve</title></head>")), "none"),
    Case("approval in an open comment", html_mail("<div><!-- <div>approve</div>"), "none"),
    Case("approval in an attribute", html_mail(page('<img src="x" alt="approve">')), "respond"),
    Case("struck out", html_mail(page("<s>approve</s>")), "none"),
    Case("struck out beside", html_mail(page("<del>reject</del> approve")), "respond", None, "struck-out"),
    Case("struck out by style", both("approve", '<p style="text-decoration:line-through">approve</p>'), "respond"),
    Case("struck out by unicode", text_mail("a\u0336p\u0336p\u0336r\u0336o\u0336v\u0336e\u0336\n"), "respond"),
    Case("html says no", both("approve", "<p>reject</p>"), "respond", None, "parts-disagree"),
    Case("html says more", both("approve", "<p>approve</p><p>but not to Tom</p>"), "respond", None, "parts-disagree"),
    Case("plain says more", both("approve\n\nbut not to Tom", "<p>approve</p>"), "respond", None, "parts-disagree"),
    Case("plain part empty", both("", "<p>approve</p>"), "respond"),
    Case("two text parts", mixed(plain_part("approve"), plain_part("But not before Friday.")), "respond"),
    Case(
        "text and then html",
        mixed(plain_part("approve"), "Content-Type: text/html\n\n<p>not before Friday</p>"),
        "respond",
    ),
    Case("picture as text", html_mail(page('approve<br><img src="cid:x" width="400">')), "respond"),
    Case("afterthought under the signature", text_mail(f"approve\n-- \nAda\n\nPS: not to Tom\n\n{quote()}"), "respond"),
    Case("condition under the name", text_mail("approve\n\nAda\nonly the first one\n"), "respond"),
    Case("talk under the name", text_mail("approve\n\nAda\nSend it to Maya alone\n"), "respond"),
    Case(
        "condition in a product line", text_mail("approve\n\nSent from my iPhone, but do not send to Tom\n"), "respond"
    ),
    Case(
        "flowed into one line",
        whole(head("Content-Type: text/plain; format=flowed"), "approve \nnot before Friday\n"),
        "respond",
    ),
    Case("stuffed mark", whole(head("Content-Type: text/plain; format=flowed"), "approve\n >not to Tom\n"), "respond"),
    Case("homoglyph", text_mail("аpprove\n"), "respond"),
    Case("override", text_mail("\u202eevorppa\n"), "respond", None, "override"),
    Case("greek question mark", text_mail("approve\u037e\n"), "respond", None, "question"),
    Case("arabic question mark", text_mail("موافق؟\n"), "respond", None, "question"),
    Case("two dots", text_mail("approve..\n"), "respond", None, "hesitation"),
    Case("ellipsis", text_mail("approve…\n"), "respond", None, "hesitation"),
    Case("wave", text_mail("approve ~\n"), "respond", None, "hesitation"),
    Case("face", text_mail("approve :)\n"), "respond", None, "hesitation"),
    Case("empty box", text_mail("[ ] approve\n"), "respond"),
    Case("boxes", text_mail("[ ] approve\n[x] reject\n"), "respond"),
    Case("both words", text_mail("approve\nreject\n"), "respond"),
    Case("both words on a line", text_mail("approve / reject\n"), "respond", None, "several-words"),
    Case("twice", text_mail("approve\napprove\n"), "respond"),
    Case("negation", text_mail("don't approve\n"), "respond"),
    Case("negation split over lines", text_mail("do not\napprove\n"), "respond"),
    Case("greeting with a name", text_mail("Dear Assistant,\n\napprove\n"), "respond", None, "greeting"),
    Case("approve but", text_mail("approve, but use her work address\n"), "respond", None, "went-on"),
    Case("refused and approved", text_mail("reject\n\nNo wait, go ahead.\n"), "respond", None, "both-words"),
    Case("refused and approved in german", text_mail("ablehnen\n\nDoch, genehmigt.\n"), "respond", None, "both-words"),
    Case("unknown item", text_mail("approve 3\n"), "respond", None, "unknown-item"),
    Case("item zero", text_mail("approve 0\n"), "respond", None, "unknown-item"),
    Case("items in words", text_mail("approve the first\n"), "respond"),
    Case("items with a foreign head", text_mail("genehmigt 1\n"), "respond"),
    Case("always, and more", text_mail("always approve\nexcept on Sundays\n"), "respond"),
    Case("edit alone", text_mail("edit\n"), "respond", "edit", "edit-alone"),
    Case("edit to an approval", text_mail("edit approve\n"), "respond"),
    Case(
        "file beside",
        mixed(plain_part("approve"), file_part("new.txt", text="pay double")),
        "respond",
        None,
        "attachment",
    ),
    Case("approval in a file", mixed(plain_part(""), file_part("a.txt")), "none"),
    Case("approval in an inline file", mixed(plain_part("hm"), file_part("a.txt", how="inline")), "respond"),
    Case(
        "winmail.dat with a file",
        mixed(
            plain_part("approve"),
            "Content-Type: application/ms-tnef; name=winmail.dat\nContent-Transfer-Encoding: base64\n\n"
            + base64.b64encode(b"\x78\x9f\x3e\x22\0\0\x02\x10\x80\x01\x00\x04").decode(),
        ),
        "respond",
        None,
        "attachment",
    ),
    Case(
        "mail attached",
        mixed(plain_part("approve"), "Content-Type: message/rfc822\n\nSubject: x\n\napprove"),
        "respond",
    ),
    Case(
        "forwarded",
        text_mail(
            f"approve\n\n---------- Forwarded message ---------\nFrom: Assistant <{ADDRESS}>\nSubject: "
            f"{SUBJECT}\n\n{SENT_TEXT}",
            subject="Fwd: " + SUBJECT,
            bound=False,
        ),
        "respond",
        "approve",
    ),
    Case(
        "forwarded by apple",
        text_mail(f"approve\n\nBegin forwarded message:\n\n{quote('From: Assistant')}\n{quote()}"),
        "respond",
    ),
    Case(
        "encrypted",
        whole(
            head('Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary="e"'),
            "--e\n\napprove\n--e--\n",
        ),
        "respond",
        None,
        "undecodable",
    ),
    Case(
        "encrypted inline",
        text_mail("-----BEGIN PGP MESSAGE-----\n\nhQEM\n-----END PGP MESSAGE-----\n"),
        "respond",
        None,
        "undecodable",
    ),
    Case(
        "s/mime that hides its text",
        whole(head("Content-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m"), "MII="),
        "respond",
        None,
        "undecodable",
    ),
    Case(
        "text beside a signed text",
        text_mail(
            "not this:\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\napprove\n-----BEGIN PGP "
            "SIGNATURE-----\n\nx\n-----END PGP SIGNATURE-----\n"
        ),
        "respond",
    ),
    Case(
        "text after a signed text",
        text_mail(
            "-----BEGIN PGP SIGNED MESSAGE-----\n\napprove\n-----BEGIN PGP SIGNATURE-----\n\nx\n-----END PGP "
            "SIGNATURE-----\nbut not to Tom\n"
        ),
        "respond",
    ),
    Case(
        "bytes that are no utf-8",
        whole(head("Content-Type: text/plain; charset=utf-8"), "approve\n\n\xff", "latin-1"),
        "respond",
        None,
        "undecodable",
    ),
    Case("utf-7", whole(head("Content-Type: text/plain; charset=utf-7"), "+AGEAcABwAHIAbwB2AGU-\n"), "respond"),
    Case(
        "unknown charset",
        whole(head("Content-Type: text/plain; charset=x-ebcdic"), "\x81\x97\x97", "latin-1"),
        "respond",
        None,
        "undecodable",
    ),
    Case("two requests", text_mail("approve\n", to=OTHER.address), "respond", None, "conflict"),
    Case(
        "condition dressed as attribution",
        text_mail(f"approve\n\nBut assistant, pay only by 5 March:\n{quote()}"),
        "respond",
    ),
    Case(
        "condition with a date above the quote",
        text_mail(f"approve\nonly until 5.3.2026\nAssistant <{ADDRESS}> writes:\n{quote()}"),
        "respond",
    ),
    Case("condition dressed as separator", text_mail(f"approve\n\n--- only the first ---\n\n{SENT_TEXT}"), "respond"),
    Case(
        "condition dressed as header block",
        outlook_plain("approve\n\nCondition: only the first\nUntil: Friday"),
        "respond",
    ),
    Case("question", text_mail("What is this about?\n"), "respond", "What is this about?"),
    Case("no vocabulary word", text_mail("sounds good to me\n"), "respond", "sounds good to me"),
    Case("no problem", text_mail("no problem, go ahead\n"), "respond"),
    Case("very long line", text_mail("approve " * 5000 + "\n"), "respond"),
    Case("zero bytes in the word", text_mail("app\0rove but no\n"), "respond"),
    Case(
        "boundary left open",
        whole(head('Content-Type: multipart/mixed; boundary="m"'), "--m\n\napprove\n--m\n\nbut not to Tom\n"),
        "respond",
    ),
    Case("quote marks before the word", text_mail("> approve\n"), "none"),
    Case("template as text", text_mail("approve\nreject\nedit (followed by your changes)\n"), "respond"),
    Case("turned around by html", html_mail(page("<bdo dir=rtl>approve</bdo>")), "respond", None, "override"),
    Case(
        "words after an attribution", text_mail(f"approve\n\n{ATTRIBUTION} and Maya gets nothing\n{quote()}"), "respond"
    ),
    Case("words in a product line", text_mail("approve\n\nSent from my iPhone to Tom alone\n"), "respond"),
    Case("initials that refuse", whole(head(person=Person("Nina Olsen")), "approve\n\nNO\n"), "respond"),
    Case(
        "words above an attribution in the container",
        html_mail(
            f'<div>approve</div><div class="gmail_quote">only the first<div class="gmail_attr">'
            f"{ATTRIBUTION.replace('<', '&lt;')}</div>"
            f"<blockquote>{broken()}</blockquote></div>"
        ),
        "respond",
    ),
    Case(
        "words dressed as cite prefix",
        html_mail(
            f'<div>approve</div><div class="moz-cite-prefix">only the first</div><blockquote>{broken()}</blockquote>'
        ),
        "respond",
    ),
    Case(
        "condition as the first header line",
        outlook_plain("approve").replace(b"-----Original Message-----", b"Limit: first only"),
        "respond",
    ),
    Case("thumb inside the quote", text_mail(f"approve\n\n{ATTRIBUTION}\n> 👎\n{quote()}\n"), "respond"),
    Case(
        "long talk inside a trimmed quote",
        text_mail("approve\n\n> 2. Send mail\n" + "> leave this one out please\n" * 5),
        "respond",
    ),
    Case("talk behind quote marks, nothing quoted", text_mail("approve\n\n> only the first\n"), "respond"),
    Case(
        "sixty parts, the last one says no",
        mixed(plain_part("approve"), *[plain_part("")] * 60, plain_part("no")),
        "respond",
    ),
    Case("line separators", text_mail("approve\u2028but not to Tom\n"), "respond"),
    Case(
        "condition in a marked signature",
        html_mail(page('approve<div class="gmail_signature">but not to Tom</div>')),
        "respond",
    ),
    Case("signature that runs on", text_mail("approve\n-- \nAda\n" + "a line of something\n" * 40), "respond"),
]

MACHINES = [
    Case("out of office", text_mail("approve\n", subject="Automatic reply: " + SUBJECT), "none", auto=True),
    Case("out of office in japanese", text_mail("承認\n", subject="自動応答: x"), "none", auto=True),
    Case("auto-submitted", text_mail("approve\n", "Auto-Submitted: auto-replied"), "none", auto=True),
    Case(
        "auto-submitted with a comment", text_mail("approve\n", "Auto-Submitted: auto-generated; x"), "none", auto=True
    ),
    Case("precedence", text_mail("approve\n", "Precedence: Bulk"), "none", auto=True),
    Case("list", text_mail("approve\n", "List-Id: <l.example.org>"), "none", auto=True),
    Case("responder", text_mail("approve\n", "X-Autoreply: yes"), "none", auto=True),
    Case("null return path", text_mail("approve\n", "Return-Path: <>"), "none", auto=True),
    Case("our own mail", text_mail("approve\n", "Postroom-Run: 1"), "none", auto=True),
    Case("reaction", text_mail("Ada Byron reacted to your message:\n\n👍\n"), "none", auto=True),
    Case(
        "receipt",
        whole(
            head('Content-Type: multipart/report; report-type=disposition-notification; boundary="m"'),
            "--m\n\napprove\n--m--\n",
        ),
        "none",
        auto=True,
    ),
    Case(
        "calendar",
        mixed(plain_part("approve"), "Content-Type: text/calendar; method=REPLY\n\nBEGIN:VCALENDAR"),
        "none",
        auto=True,
    ),
    Case(
        "calendar that says it inside",
        mixed(plain_part("approve"), "Content-Type: text/calendar\n\nBEGIN:VCALENDAR\nMETHOD:REPLY"),
        "none",
        auto=True,
    ),
    Case(
        "mailer daemon",
        whole(head(person=Person("Mail Delivery", "MAILER-DAEMON@postroom.internal")), "approve"),
        "none",
        auto=True,
    ),
]

CASES = [*APPROVED, *REFUSED, *EDITED, *DOUBTFUL, *MACHINES]
