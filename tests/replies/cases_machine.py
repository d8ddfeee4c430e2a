"""Mail that machines send in answer."""

from tests.replies.case import Case
from tests.replies.clients import SUBJECT, Person, head, mixed, plain_part, text_mail, whole

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
