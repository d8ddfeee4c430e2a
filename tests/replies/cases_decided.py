"""Replies that decide: approvals, refusals, changes."""

from tests.replies.case import ATTRIBUTION, Case, encoded, file_part, page
from tests.replies.clients import (
    ADDRESS,
    SENT_TEXT,
    Person,
    apple,
    both,
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
