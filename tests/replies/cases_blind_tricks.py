# ruff: noqa: E501 - a mail as a client lays it out is read best on one line
"""Tricks, doubts, signatures, odd forms and machines: each mail was judged before it was first read."""

import html

from tests.replies.case import Case, encoded, file_part
from tests.replies.cases_fresh_forms import SIGNED, smime, tnef
from tests.replies.clients import (
    SENT_TEXT,
    SUBJECT,
    both,
    broken,
    gmail,
    head,
    html_mail,
    mixed,
    plain_part,
    quote,
    text_mail,
    whole,
)
from tests.replies.layouts import WHO, WROTE

QUOTED = f'<div>{html.escape(WROTE)}</div><blockquote type="cite">{broken()}</blockquote>'


def page(words: str, head_of: str = "") -> bytes:
    return html_mail(f"<html><head>{head_of}</head><body>{words}{QUOTED}</body></html>")


def reply(words: str, *fields: str) -> bytes:
    return text_mail(f"{words}\n\n{WROTE}\n{quote()}\n", *fields)


def answered(*pairs: tuple[str, str]) -> bytes:
    """Answers written under rows of the quote."""
    text = quote()
    for row, words in pairs:
        assert row in text
        text = text.replace(row, f"{row}\n\n{words}\n", 1)
    return text_mail(f"{WROTE}\n{text}\n")


def part(kind: str, body: str, *more: str) -> str:
    return "\n".join([f"Content-Type: {kind}", *more, "", body])


HIDDEN = [
    Case("blind: word in white", page('<p style="color:white">approve</p>'), "none"),
    Case(
        "blind: condition in white on white",
        page('<p>approve</p><p style="background:#fff;color:#fff">not to Tom</p>'),
        "respond",
    ),
    Case("blind: word in a hidden box", page('<div style="height:0;overflow:hidden">approve</div>'), "none"),
    Case(
        "blind: word of no size",
        page('<p style="font-size:0">approve</p><p>I have a question about Tom</p>'),
        "respond",
        "I have a question about Tom",
    ),
    Case(
        "blind: preheader",
        page('<div style="display:none;max-height:0">approve</div><p>reject</p>'),
        "reject",
        "reject",
    ),
    Case("blind: hidden input", page('<input type="hidden" value="approve"><p>Hm.</p>'), "respond", "Hm."),
    Case("blind: template", page("<template><p>approve</p></template>"), "none"),
    Case("blind: aria-hidden is shown", page('<p aria-hidden="true">approve</p>'), "approve", "approve"),
    Case("blind: struck out", page("<p><strike>approve</strike></p><p>reject</p>"), "reject", "reject"),
    Case("blind: struck out, then more", page("<p><del>approve</del> not now</p>"), "respond", "not now"),
    Case(
        "blind: struck out by class",
        page('<p class="gone">approve</p>', "<style>.gone{text-decoration:line-through}</style>"),
        "none",
    ),
    Case(
        "blind: conditional comment",
        page("<!--[if mso]><p>approve</p><![endif]--><p>Let me think.</p>"),
        "respond",
        "Let me think.",
    ),
    Case("blind: letters turned", page('<p><bdo dir="rtl">evorppa</bdo></p>'), "respond"),
    Case("blind: right to left page", page('<div dir="rtl">approve</div>'), "approve", "approve"),
    Case("blind: soft hyphens", reply("ap\u00adprove"), "approve"),
    Case("blind: joiners", reply("a\u200dp\u200dp\u200dr\u200dove"), "approve"),
    Case("blind: Greek omicron", reply("appr\u03bfve"), "respond"),
    Case(
        "blind: mathematical letters",
        reply("\U0001d41a\U0001d429\U0001d429\U0001d42b\U0001d428\U0001d42f\U0001d41e"),
        "approve",
    ),
    Case("blind: tag letters behind", reply("approve\U000e006e\U000e006f"), "respond"),
    Case("blind: embedding", reply("\u202aapprove\u202c"), "approve"),
    Case("blind: override within", reply("reject \u202eevorppa\u202c"), "respond"),
    Case("blind: image of a word", page('<p><img src="https://cdn.example/yes.png" alt="approve"></p>'), "respond"),
    Case("blind: button of a page", page('<p><a href="mailto:x@example.org">approve</a></p>'), "approve", "approve"),
    Case("blind: choices with marks", page("<p>( ) approve</p><p>(x) reject</p>"), "respond"),
]

DOUBTS = [
    Case("blind: question", reply("Can I approve this later?"), "respond", "Can I approve this later?"),
    Case("blind: approve with a tag", reply("approve, right?"), "respond", "approve, right?"),
    Case("blind: Spanish question", reply("¿Aprobado?"), "respond", "¿Aprobado?"),
    Case("blind: negated", reply("I do not approve of this."), "respond", "I do not approve of this."),
    Case("blind: nobody approves", reply("not approved"), "respond", "not approved"),
    Case("blind: German negation", reply("nicht genehmigt"), "respond", "nicht genehmigt"),
    Case("blind: Japanese negation", reply("承認しません"), "respond", "承認しません"),
    Case("blind: Turkish negation", reply("onaylamıyorum"), "respond", "onaylamıyorum"),
    Case("blind: if", reply("approve if Bob agrees"), "respond", "approve if Bob agrees"),
    Case("blind: unless", reply("Approved unless Tom objects."), "respond", "Approved unless Tom objects."),
    Case(
        "blind: condition below",
        reply("Approved\n\nprovided the total stays under 500"),
        "respond",
        "Approved\n\nprovided the total stays under 500",
    ),
    Case("blind: condition behind the name", reply("Approved\n\nAda\n\n(for Maya, that is)"), "respond"),
    Case("blind: later", reply("approve tomorrow"), "respond", "approve tomorrow"),
    Case("blind: somebody else", reply("Bob: approve"), "respond", "Bob: approve"),
    Case("blind: told what to write", reply('Should I write "approve"?'), "respond", 'Should I write "approve"?'),
    Case("blind: the instruction again", reply('answer this mail with the single word "approve"'), "respond"),
    Case("blind: done before", reply("I already approved this"), "respond", "I already approved this"),
    Case("blind: enthusiasm", reply("APPROVE!!!"), "approve", "APPROVE!!!"),
    Case("blind: underlined", reply("_approve_"), "approve"),
    Case("blind: with a full stop and blank lines", reply("\n\n\n  Approve.  \n\n"), "approve", "  Approve."),
    Case("blind: many words for yes", reply("yes ok approve"), "respond", "yes ok approve"),
    Case("blind: thanks on the line", reply("approve, thanks"), "respond", "approve, thanks"),
    Case("blind: thanks below", reply("approve\n\nthanks"), "approve", "approve\n\nthanks"),
    Case("blind: two thanks", reply("approve\n\nThank you!\n\nBest,\nAda"), "approve", "approve\n\nThank you!"),
    Case("blind: greeting in Italian", reply("Buongiorno,\n\napprovo\n\nSaluti\nAda"), "respond", None, "greeting"),
    Case("blind: greeting in Polish", reply("Dzień dobry,\n\nzatwierdzam"), "respond", None, "greeting"),
    Case("blind: items", reply("approve 1"), "approve", "approve 1"),
    Case("blind: items refused", reply("reject 1, 2: Tom left"), "reject", "reject 1, 2: Tom left"),
    Case("blind: items unknown", reply("reject 9"), "respond", "reject 9", "unknown-item"),
    Case("blind: one of each", reply("approve 1\nreject 2"), "respond", "approve 1\nreject 2"),
    Case("blind: standing", reply("Always approve."), "approve", "Always approve."),
    Case("blind: standing, doubted", reply("always approve?"), "respond", "always approve?"),
    Case(
        "blind: edit of fields",
        reply("Edit:\nTo: bob@example.org\nSubject: Notes"),
        "edit",
        "Edit:\nTo: bob@example.org\nSubject: Notes",
    ),
    Case(
        "blind: edit with a dash",
        reply("edit - say Wednesday, not Tuesday"),
        "edit",
        "edit - say Wednesday, not Tuesday",
    ),
    Case("blind: reject and a question", reply("reject\n\nWhy Tom?"), "reject", "reject\n\nWhy Tom?"),
    Case("blind: no with a reason", reply("no: too early"), "reject", "no: too early"),
    Case("blind: stop", reply("STOP"), "reject", "STOP"),
    Case(
        "blind: per item in the quote", answered(("> 1. Send mail", "approve"), ("> 2. Send mail", "reject")), "respond"
    ),
    Case("blind: one answer in the quote", answered(("> 2. Send mail", "approve")), "respond"),
    Case("blind: answer at the first row", answered((quote().split("\n", 1)[0], "approve")), "respond"),
    Case("blind: above and below", text_mail(f"approve\n\n{WROTE}\n{quote()}\n\nbut wait for Bob\n"), "respond"),
    Case(
        "blind: quote changed",
        text_mail(f"approve\n\n{WROTE}\n{quote(SENT_TEXT.replace('maya@example.org', 'bob@example.org'))}\n"),
        "respond",
    ),
    Case(
        "blind: quote of another mail",
        text_mail("approve\n\nOn Mon, 2 Mar 2026 at 08:00, Bob <bob@example.org> wrote:\n> May I go home early?\n"),
        "respond",
    ),
    Case("blind: a marked line of one's own", reply("> note to self: ask Bob\n\napprove"), "respond"),
    Case("blind: two letters", reply("k"), "respond", "k"),
    Case("blind: plus one", reply("+1"), "respond", "+1"),
    Case("blind: face", reply("approve 🙃"), "respond", "approve 🙃"),
    Case("blind: dots within", reply("approve . ."), "respond"),
    Case("blind: Arabic semicolon", reply("موافق؛ ولكن غدا"), "respond"),
    Case("blind: said in brackets", reply("(approve)"), "approve"),
    Case("blind: code", reply("approve A-7F3K"), "respond", "approve A-7F3K"),
]

BELOW = {
    "tagline": "approve\n\nAda Byron\nHead of Purchasing\nExample Ltd\nwww.example.org\n+44 20 7946 0000",
    "disclaimer": "approve\n\nAda\n\nThis email and any attachments are confidential and intended solely for the addressee. If you have received it in error, please notify the sender and delete it.",
    "company disclaimer": "approve\n\nKind regards\nAda Byron\n\nExample Ltd is registered in England and Wales. Registered number: 01234567. Registered office: 1 Example Street, London.",
    "disclaimer of opinions": "approve\n\nAda\n\nThe views expressed in this email are those of the author and do not necessarily represent those of Example Ltd. This message may contain confidential information.",
    "disclaimer in German": "approve\n\nViele Grüße\nAda\n\nDiese E-Mail enthält vertrauliche und/oder rechtlich geschützte Informationen. Wenn Sie nicht der richtige Adressat sind, informieren Sie bitte sofort den Absender und löschen Sie diese Mail.",
    "disclaimer in French": "approve\n\nAda\n\nCe message et toutes les pièces jointes sont confidentiels et établis à l'intention exclusive de ses destinataires. Si vous avez reçu ce message par erreur, merci de le détruire et d'en avertir l'expéditeur.",
    "disclaimer in Spanish": "approve\n\nAda\n\nEste mensaje y sus archivos adjuntos son confidenciales y están dirigidos exclusivamente a su destinatario. Si lo ha recibido por error, le rogamos que lo elimine y avise al remitente.",
    "disclaimer in Dutch": "approve\n\nAda\n\nDe informatie in dit e-mailbericht is vertrouwelijk en uitsluitend bestemd voor de geadresseerde. Als u dit bericht per abuis ontvangt, verzoeken wij u het te verwijderen.",
    "disclaimer in Polish": "approve\n\nAda\n\nTa wiadomość oraz załączniki są poufne i przeznaczone wyłącznie dla adresata. Jeśli nie jesteś adresatem, prosimy o usunięcie wiadomości.",
    "green footer": "approve\n\nAda\n\nPlease consider the environment before printing this e-mail.",
    "rules around": "approve\n\n--------------------\nAda Byron\nExample Ltd\nT +44 20 7946 0000\n--------------------",
    "delimiter and block": "approve\n\n-- \nDr. Ada Byron\nExample GmbH, Hauptstraße 5, 10115 Berlin\nTel. +49 30 123456, Fax +49 30 123457\nada@example.org",
}

SIGNATURES = [
    *(Case(f"blind: below it, {name}", gmail(words), "approve", "approve") for name, words in BELOW.items()),
    Case("blind: below it, a sentence", gmail("approve\n\nAda\n\nWe move to our new office in May."), "respond"),
    Case(
        "blind: below the delimiter, a wish",
        text_mail(f"approve\n\n-- \nAda\nPlease leave Tom out.\n\n{WROTE}\n{quote()}\n"),
        "respond",
    ),
    Case(
        "blind: disclaimer with a condition",
        gmail("approve\n\nAda\n\nThis email is confidential. Only send it to Maya."),
        "respond",
    ),
    Case(
        "blind: away in the signature",
        text_mail("approve\n\n-- \nAda Byron\nExample Ltd\n+44 20 7946 0000\nI am out of the office on Fridays.\n"),
        "respond",
    ),
    Case(
        "blind: disclaimer above",
        text_mail(f"This email is confidential.\n\napprove\n\n{WROTE}\n{quote()}\n"),
        "respond",
    ),
]

FORMS = [
    Case("blind: disagreeing forms", both(f"approve\n\n{WROTE}\n{quote()}", f"<p>please wait</p>{QUOTED}"), "respond"),
    Case(
        "blind: forms that disagree the other way",
        both(f"please wait\n\n{WROTE}\n{quote()}", f"<p>approve</p>{QUOTED}"),
        "respond",
    ),
    Case(
        "blind: a note in place of the text",
        both("This message is in HTML format.", f"<p>approve</p>{QUOTED}"),
        "respond",
    ),
    Case(
        "blind: file",
        mixed(plain_part("approve"), file_part("budget.xlsx", "application/vnd.ms-excel", "x")),
        "respond",
        "approve",
        "attachment",
    ),
    Case(
        "blind: card",
        mixed(plain_part("approve"), file_part("ada.vcf", "text/vcard", "BEGIN:VCARD")),
        "approve",
        "approve",
    ),
    Case(
        "blind: key",
        mixed(plain_part("approve"), file_part("key.asc", "application/pgp-keys", "x")),
        "approve",
        "approve",
    ),
    Case(
        "blind: list footer",
        mixed(
            plain_part("approve"),
            plain_part("_______________\nteam mailing list\nteam@lists.example.org\nhttps://lists.example.org/team"),
        ),
        "respond",
    ),
    Case(
        "blind: forwarded",
        text_mail(
            f"approve\n\nBegin forwarded message:\n\nFrom: {WHO}\nSubject: {SUBJECT}\n\n{SENT_TEXT}",
            subject="Fwd: " + SUBJECT,
            bound=False,
        ),
        "respond",
    ),
    Case(
        "blind: forwarded in Outlook",
        text_mail(
            f"approve\n\nVon: {WHO}\nGesendet: Dienstag\nAn: Ada\nBetreff: {SUBJECT}\n\n{SENT_TEXT}",
            subject="WG: " + SUBJECT,
            bound=False,
        ),
        "respond",
    ),
    Case("blind: S/MIME", smime("Approved"), "approve", "Approved"),
    Case(
        "blind: clear-signed with a quote",
        text_mail(SIGNED.format(words=f"approve\n\n{WROTE}\n" + quote())),
        "approve",
        "approve",
    ),
    Case(
        "blind: clear-signed, dashes escaped",
        text_mail(SIGNED.format(words="reject\n\n- -- \nAda")),
        "reject",
        "reject",
    ),
    Case("blind: clear-signed, words below", text_mail(SIGNED.format(words="approve") + "\nor not\n"), "respond"),
    Case("blind: winmail.dat", tnef(b"\x78\x9f\x3e\x22" + bytes(60)), "approve", "approve"),
    Case(
        "blind: flowed",
        whole(
            head("Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes"), "reject: the sum is \nwrong\n"
        ),
        "reject",
    ),
    Case(
        "blind: flowed condition",
        whole(head("Content-Type: text/plain; charset=utf-8; format=flowed"), "approve \nthe first\n"),
        "respond",
    ),
    Case(
        "blind: windows-1252",
        encoded("approuvé\r\n".encode("cp1252"), "text/plain; charset=windows-1252"),
        "approve",
        "approuvé",
    ),
    Case(
        "blind: ISO-8859-9",
        encoded("onaylandı\r\n".encode("iso8859_9"), "text/plain; charset=iso-8859-9"),
        "approve",
        "onaylandı",
    ),
    Case(
        "blind: ISO-8859-2",
        encoded("zatwierdzone\r\n".encode("iso8859_2"), "text/plain; charset=iso-8859-2"),
        "approve",
        "zatwierdzone",
    ),
    Case(
        "blind: Shift_JIS",
        encoded("承認する\r\n".encode("shift_jis"), "text/plain; charset=Shift_JIS"),
        "approve",
        "承認する",
    ),
    Case("blind: Big5", encoded("同意\r\n".encode("big5"), "text/plain; charset=big5"), "approve", "同意"),
    Case("blind: UTF-7", encoded(b"+AGEAcABwAHIAbwB2AGU-\r\n", "text/plain; charset=utf-7", "7bit"), "respond"),
    Case(
        "blind: charset that nobody knows", encoded(b"approve\xff\xfe\r\n", "text/plain; charset=x-martian"), "respond"
    ),
    Case(
        "blind: base64 with line noise",
        whole(head("Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64"), "YXBwcm92\nZQ0K\n"),
        "approve",
        "approve",
    ),
    Case(
        "blind: quoted-printable",
        whole(
            head("Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: quoted-printable"),
            "re=\nject: das =C3=BCberzeugt nicht\n",
        ),
        "reject",
        "reject: das überzeugt nicht",
    ),
    Case(
        "blind: UTF-8 mark at the start", encoded("\ufeffapprove\r\n".encode(), "text/plain; charset=utf-8"), "approve"
    ),
    Case("blind: no type", whole(head(), "approve\n"), "approve", "approve"),
    Case(
        "blind: boundary never closed",
        whole(head('Content-Type: multipart/alternative; boundary="z"'), "--z\nContent-Type: text/plain\n\napprove\n"),
        "approve",
        "approve",
    ),
    Case(
        "blind: boundary that never comes",
        whole(head('Content-Type: multipart/alternative; boundary="z"'), "approve\n"),
        "none",
    ),
    Case("blind: a very long line", reply("approve " + "x" * 20_000), "respond"),
    Case("blind: long blank line", reply("approve" + " " * 5000), "approve"),
    Case(
        "blind: nested alternatives",
        whole(
            head('Content-Type: multipart/mixed; boundary="m"'),
            '--m\nContent-Type: multipart/related; boundary="r"\n\n--r\nContent-Type: multipart/alternative; boundary="a"\n\n--a\nContent-Type: text/plain\n\napprove\n--a\nContent-Type: text/html\n\n<p>approve</p>\n--a--\n--r--\n--m--\n',
        ),
        "approve",
        "approve",
    ),
    Case("blind: HTML labelled as plain", text_mail("<html><body><p>approve</p></body></html>\n"), "respond"),
    Case("blind: two From fields", text_mail("reject\n", "From: Eve <eve@example.net>"), "reject", "reject"),
    Case("blind: empty reply", text_mail(f"\n\n{WROTE}\n{quote()}\n"), "none"),
    Case("blind: signature alone", text_mail(f"\n-- \nAda Byron\nExample Ltd\n\n{WROTE}\n{quote()}\n"), "none"),
]

RETURNED = whole(
    head('Content-Type: multipart/report; report-type=disposition-notification; boundary="d"'),
    "--d\nContent-Type: text/plain\n\napprove\n--d\nContent-Type: message/disposition-notification\n\nDisposition: manual-action/MDN-sent-manually; displayed\n--d--\n",
)
CALENDAR = mixed(
    plain_part("approve"),
    part("text/calendar; method=REPLY; charset=utf-8", "BEGIN:VCALENDAR\nMETHOD:REPLY\nEND:VCALENDAR"),
)

MACHINES = [
    Case("blind: read receipt", RETURNED, "none", auto=True),
    Case("blind: calendar answer", CALENDAR, "none", auto=True),
    Case(
        "blind: bounce",
        whole(
            head('Content-Type: multipart/report; report-type=delivery-status; boundary="d"', "Return-Path: <>"),
            "--d\nContent-Type: text/plain\n\nUser unknown\n--d--\n",
        ),
        "none",
        auto=True,
    ),
    Case(
        "blind: away, French",
        reply("Je suis absente. approuvé").replace(b"Subject: Re:", "Subject: Réponse automatique :".encode()),
        "none",
        auto=True,
    ),
    Case(
        "blind: away, Italian",
        reply("approvo").replace(b"Subject: Re:", b"Subject: Risposta automatica:"),
        "none",
        auto=True,
    ),
    Case(
        "blind: away, Turkish",
        reply("onaylandı").replace(b"Subject: Re:", "Subject: Otomatik Yanıt:".encode()),
        "none",
        auto=True,
    ),
    Case("blind: away, Swedish", reply("godkänt").replace(b"Subject: Re:", b"Subject: Autosvar:"), "none", auto=True),
    Case("blind: sieve vacation", reply("approve", "Auto-Submitted: auto-replied (vacation)"), "none", auto=True),
    Case("blind: Auto-Submitted: no", reply("approve", "Auto-Submitted: no"), "approve", "approve"),
    Case("blind: ticket", reply("approve", "X-Auto-Response-Suppress: OOF", "Precedence: bulk"), "none", auto=True),
    Case("blind: list", reply("approve", "List-Id: <team.lists.example.org>"), "none", auto=True),
    Case(
        "blind: mail system",
        text_mail("approve\n").replace(
            b"From: Ada Byron <you@postroom.internal>",
            b"From: Mail Delivery Subsystem <MAILER-DAEMON@postroom.internal>",
        ),
        "none",
        auto=True,
    ),
    Case(
        "blind: reaction",
        mixed(plain_part("👍"), part("text/vnd.google.email-reaction+json", '{"emoji":"👍","version":1}')),
        "none",
        auto=True,
    ),
    Case(
        "blind: out of office in the middle",
        text_mail("approve\n", subject="Re: Ada is out of office"),
        "approve",
        "approve",
    ),
    Case("blind: our own mail", reply("approve", "Postroom-Run: r1"), "none", auto=True),
]

TRICKS: list[Case] = [*HIDDEN, *DOUBTS, *SIGNATURES, *FORMS, *MACHINES]
