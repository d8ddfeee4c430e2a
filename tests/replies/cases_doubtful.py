"""Replies that come near a decision and are none."""

import base64

from tests.replies.case import ATTRIBUTION, Case, file_part, page
from tests.replies.clients import (
    ADDRESS,
    OTHER,
    SENT_TEXT,
    SUBJECT,
    Person,
    both,
    broken,
    head,
    html_mail,
    mixed,
    outlook,
    outlook_plain,
    plain_part,
    quote,
    text_mail,
    whole,
)

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
