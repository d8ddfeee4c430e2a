# ruff: noqa: E501 - a mail as a client lays it out is read best on one line
"""Forms, machines and tricks that the reader was not built with: each was judged before it was first read."""

import base64

from tests.replies.case import Case, encoded, file_part
from tests.replies.cases_fresh import WROTE
from tests.replies.clients import (
    SUBJECT,
    both,
    broken,
    head,
    html_mail,
    mixed,
    plain_part,
    quote,
    text_mail,
    whole,
)

SIGNED = (
    "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{words}\n-----BEGIN PGP SIGNATURE-----\n\niQEzBAEBCgAdFiEE\n=abcd\n"
    "-----END PGP SIGNATURE-----\n"
)
SMIME = (
    "--s1\nContent-Type: text/plain; charset=utf-8\n\n{words}\n\n--s1\nContent-Type: application/pkcs7-signature; "
    'name="smime.p7s"\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename="smime.p7s"\n\nMIAG\n--s1--\n'
)
TNEF = 'application/ms-tnef; name="winmail.dat"'


def smime(words: str) -> bytes:
    kind = 'Content-Type: multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256; boundary="s1"'
    return whole(head(kind), SMIME.format(words=words))


def tnef(data: bytes) -> bytes:
    coded = base64.encodebytes(data).decode()
    return mixed(
        plain_part("approve\n"),
        f"Content-Type: {TNEF}\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=winmail.dat\n\n{coded}",
    )


FORMS = [
    Case("fresh: clear-signed", text_mail(SIGNED.format(words="approve")), "approve", "approve"),
    Case("fresh: clear-signed condition", text_mail(SIGNED.format(words="approve\nbut only item 1")), "respond"),
    Case("fresh: words outside the armour", text_mail("wait\n\n" + SIGNED.format(words="approve")), "respond"),
    Case("fresh: S/MIME signed", smime("approve"), "approve", "approve"),
    Case("fresh: S/MIME signed, remark", smime("approve\n\nNext week, that is."), "respond"),
    Case(
        "fresh: S/MIME opaque",
        encoded(b"MIAGCSqGSIb3", 'application/pkcs7-mime; smime-type=signed-data; name="smime.p7m"'),
        "respond",
    ),
    Case(
        "fresh: PGP encrypted",
        text_mail("-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n"),
        "respond",
    ),
    Case("fresh: winmail.dat of text", tnef(b"\x78\x9f\x3e\x22" + bytes(40)), "approve", "approve"),
    Case(
        "fresh: winmail.dat with a file",
        tnef(b"\x78\x9f\x3e\x22" + bytes(9) + b"\x02\x10\x80\x01\x00" + bytes(9)),
        "respond",
    ),
    Case("fresh: UTF-16", encoded("approve\r\n".encode("utf-16"), "text/plain; charset=utf-16"), "approve", "approve"),
    Case(
        "fresh: ISO-2022-JP",
        encoded("承認\r\n".encode("iso2022_jp"), "text/plain; charset=ISO-2022-JP"),
        "approve",
        "承認",
    ),
    Case("fresh: KOI8-R", encoded("одобряю\r\n".encode("koi8_r"), "text/plain; charset=koi8-r"), "approve", "одобряю"),
    Case("fresh: GB18030", encoded("批准\r\n".encode("gb18030"), "text/plain; charset=gb2312"), "approve", "批准"),
    Case(
        "fresh: Windows-1255",
        encoded("מאשר\r\n".encode("cp1255"), "text/plain; charset=windows-1255"),
        "approve",
        "מאשר",
    ),
    Case(
        "fresh: Windows-1256",
        encoded("موافق\r\n".encode("cp1256"), "text/plain; charset=windows-1256"),
        "approve",
        "موافق",
    ),
    Case("fresh: EUC-KR", encoded("승인\r\n".encode("euc_kr"), "text/plain; charset=euc-kr"), "approve", "승인"),
    Case("fresh: wrong charset", encoded("genehmigt für".encode("latin-1"), "text/plain; charset=utf-8"), "respond"),
    Case(
        "fresh: quoted-printable soft breaks",
        encoded(b"appr=\r\nove\r\n", "text/plain; charset=utf-8", "quoted-printable"),
        "approve",
        "approve",
    ),
    Case(
        "fresh: picture of a signature",
        mixed(
            "Content-Type: text/html; charset=utf-8\n\n<p>approve</p>", file_part("sig.png", "image/png", "x", "inline")
        ),
        "respond",
    ),
    Case(
        "fresh: an ics file",
        mixed(plain_part("approve\n"), file_part("x.ics", "text/calendar", "BEGIN:VCALENDAR")),
        "respond",
    ),
    Case(
        "fresh: a calendar answer",
        mixed(plain_part("approve\n"), "Content-Type: text/calendar; method=REPLY\n\nBEGIN:VCALENDAR"),
        "none",
        auto=True,
    ),
    Case(
        "fresh: a vCard",
        mixed(plain_part("approve\n"), file_part("ada.vcf", "text/vcard", "BEGIN:VCARD")),
        "approve",
        "approve",
    ),
]

MACHINES = [
    Case("fresh: Abwesenheit", text_mail("approve\n", subject="Abwesenheitsnotiz: " + SUBJECT), "none", auto=True),
    Case(
        "fresh: Réponse automatique",
        text_mail("approve\n", subject="Réponse automatique : " + SUBJECT),
        "none",
        auto=True,
    ),
    Case("fresh: 自動返信", text_mail("承認\n", subject="自動返信: " + SUBJECT), "none", auto=True),
    Case("fresh: 自动回复", text_mail("同意\n", subject="自动回复: " + SUBJECT), "none", auto=True),
    Case(
        "fresh: vacation header", text_mail("approve\n", "Auto-Submitted: auto-replied (vacation)"), "none", auto=True
    ),
    Case("fresh: Precedence junk", text_mail("approve\n", "Precedence: Junk"), "none", auto=True),
    Case(
        "fresh: ticket opened",
        text_mail("approve\n", "Auto-Submitted: auto-generated", "X-Mailer: OTRS"),
        "none",
        auto=True,
    ),
    Case("fresh: null sender", text_mail("approve\n", "Return-Path: <>"), "none", auto=True),
    Case("fresh: suppresses answers", text_mail("approve\n", "X-Auto-Response-Suppress: All"), "approve", "approve"),
    Case("fresh: likes it", text_mail(f"👍 Ada Byron reacted to your message:\n\n{quote()}\n"), "none", auto=True),
]

TRICKS = [
    Case(
        "fresh: forwarded approval",
        text_mail(
            f"---------- Forwarded message ---------\nFrom: Bo <bo@example.org>\nDate: Tue, 3 Mar 2026\nSubject: Re: {SUBJECT}\nTo: Ada\n\napprove\n",
            subject="Fwd: " + SUBJECT,
            bound=False,
        ),
        "respond",
    ),
    Case(
        "fresh: approval above a forwarded one",
        text_mail("approve\n\nBegin forwarded message:\n\nFrom: Bo <bo@example.org>\nSubject: x\n\nplease\n"),
        "respond",
    ),
    Case("fresh: quoted approve line", text_mail(f"> approve\n\n{WROTE['de']}\n{quote()}\n"), "none"),
    Case("fresh: only the quote's approve", text_mail(f"{WROTE['fr']}\n{quote()}\n> approve\n"), "respond"),
    Case(
        "fresh: interleaved",
        text_mail(
            "> 1. Send mail\n> | To       maya@example.org   (new: you have never written to this address here)\n\napprove\n\n> 2. Send mail\n> | To       tom@example.org\n\nreject\n"
        ),
        "respond",
    ),
    Case(
        "fresh: display none",
        html_mail(
            f'<div>Please wait.</div><div style="display: none">approve</div><blockquote>{broken()}</blockquote>'
        ),
        "respond",
        "Please wait.",
    ),
    Case(
        "fresh: zero font first",
        html_mail(f'<div style="font-size:0">approve</div><div>hold on</div><blockquote>{broken()}</blockquote>'),
        "respond",
    ),
    Case(
        "fresh: white on white not",
        html_mail('<div>approve</div><div style="color:#fff">not this one</div>'),
        "respond",
    ),
    Case("fresh: override", text_mail("\u202eevorppa\u202c\n"), "respond"),
    Case("fresh: isolate around the word", text_mail("\u2068approve\u2069\n"), "approve"),
    Case("fresh: Arabic with marks", text_mail("\u200fموافق\u200f\n"), "approve"),
    Case("fresh: Cyrillic look-alike", text_mail("аpprove\n"), "respond"),
    Case("fresh: full-width", text_mail("ａｐｐｒｏｖｅ\n"), "approve"),
    Case("fresh: Greek question mark", text_mail("approve\u037e\n"), "respond"),
    Case("fresh: inverted question mark", text_mail("¿aprobado?\n"), "respond"),
    Case(
        "fresh: approve in a link",
        html_mail(f'<a href="https://x.example/reject">approve</a><blockquote>{broken()}</blockquote>'),
        "approve",
        "approve",
    ),
    Case("fresh: a list item", html_mail("<ul><li>approve</li></ul>"), "respond"),
    Case("fresh: heading", html_mail(f"<h1>Approve</h1><blockquote>{broken()}</blockquote>"), "approve", "Approve"),
    Case("fresh: alternative disagrees", both("approve\n", "<p>reject</p>"), "respond"),
    Case("fresh: alternative without words", both("approve\n", "<html><body></body></html>"), "approve", "approve"),
    Case(
        "fresh: condition below the signature",
        text_mail("approve\n\n-- \nAda Byron\nHarbour Office\nNot the second one\n"),
        "respond",
    ),
    Case(
        "fresh: sentence below the signature",
        text_mail("approve\n\n-- \nAda Byron\n+46 70 123 45 67\nTake out the last line.\n"),
        "respond",
    ),
    Case(
        "fresh: long signature",
        text_mail(
            "approve\n\n-- \nAda Byron\nHead of Purchasing\nExample Group Ltd.\n12 Quay Road, 1010 Harbour\n+46 70 123 45 67 | ada@example.org\nwww.example.org\n"
        ),
        "approve",
        "approve",
    ),
    Case(
        "fresh: Japanese signature",
        text_mail("承認します\n\n-- \n株式会社例\n営業部 Ada Byron\nTEL 03-1234-5678\n"),
        "approve",
    ),
    Case(
        "fresh: German firm",
        text_mail(
            "genehmigt\n\nMit freundlichen Grüßen\n\nAda Byron\nLeiterin Einkauf\n\nBeispiel GmbH\nHafenstraße 1, 20457 Hamburg\nTelefon: +49 40 123456-0\nSitz der Gesellschaft: Hamburg, Amtsgericht Hamburg, HRB 12345\nGeschäftsführer: Bo Berg\n"
        ),
        "approve",
        "genehmigt",
    ),
    Case("fresh: approve with smile", text_mail("approve 😊\n"), "respond"),
    Case("fresh: approve twice", text_mail("approve\napprove\n"), "respond"),
    Case("fresh: number alone", text_mail("1\n"), "respond"),
    Case("fresh: yes and no", text_mail("yes no\n"), "respond"),
    Case("fresh: approve all but one", text_mail("approve all but 2\n"), "respond"),
    Case("fresh: approve a range", text_mail("approve 1-2\n"), "respond"),
    Case("fresh: both items", text_mail("approve 1 and 2\n"), "respond"),
    Case("fresh: unknown item", text_mail("approve 1,7\n"), "respond", near_miss="unknown-item"),
    Case("fresh: edit in JSON", text_mail('edit\n{"subject": "New"}\n'), "edit"),
    Case("fresh: edit in German", text_mail("ändern: Betreff: Neu\n"), "edit"),
    Case("fresh: reject, then approves", text_mail("reject\n\nBut you may go ahead with Tom.\n"), "respond"),
    Case("fresh: greeting", text_mail("Hello Assistant,\n\napprove\n\nBest,\nAda\n"), "respond", near_miss="greeting"),
    Case("fresh: thanks first", text_mail("Thanks!\napprove\n"), "respond"),
    Case("fresh: nothing", text_mail(f"\n\n{WROTE['it']}\n{quote()}\n"), "none", ""),
    Case("fresh: only a signature", text_mail(f"-- \nAda Byron\n\n{WROTE['nl']}\n{quote()}\n"), "none", ""),
]

TRIED = [*FORMS, *MACHINES, *TRICKS]
