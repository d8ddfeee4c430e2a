# ruff: noqa: E501 - a mail as a client lays it out is read best on one line
"""Some sixty other mail programs, each in its own layout: each mail was judged before it was first read."""

import html

from tests.replies.case import Case
from tests.replies.clients import ADDRESS, SENT_TEXT, SUBJECT, both, broken, head, html_mail, quote, text_mail, whole
from tests.replies.layouts import (
    EMC,
    EMC_DE,
    NOTES,
    WHO,
    WROTE,
    blackberry,
    fastmail,
    gmx_page,
    hey,
    kmail,
    mail_ru,
    mailspring,
    naver,
    netease,
    notes_page,
    plain_html,
    proton,
    qq,
    samsung_page,
    seznam,
    spark,
    superhuman,
    the_bat,
    tuta,
    wrapped_quote,
    yahoo_app,
    yandex,
    zimbra,
    zoho,
)

CLIENTS: list[Case] = [
    Case("blind: Yahoo app", yahoo_app("Approve"), "approve", "Approve"),
    Case("blind: Yahoo app refuses", yahoo_app("reject: not this week"), "reject", "reject: not this week"),
    Case("blind: Yahoo app, condition", yahoo_app("approve but ask Bob"), "respond", "approve but ask Bob"),
    Case("blind: Yahoo for iPhone", yahoo_app("approved", "Sent from Yahoo Mail for iPhone"), "approve", "approved"),
    Case("blind: Yahoo app, nothing written", yahoo_app(""), "none"),
    Case(
        "blind: AOL",
        text_mail(
            f"approve\n\n\n-----Original Message-----\nFrom: Assistant <{ADDRESS}>\nTo: you@postroom.internal\nSent: Tue, Mar 3, 2026 9:14 am\nSubject: {SUBJECT}\n\n{SENT_TEXT}"
        ),
        "approve",
        "approve",
    ),
    Case("blind: AOL app", yahoo_app("go ahead", "Sent from the all new AOL app for iOS"), "approve", "go ahead"),
    Case("blind: GMX", gmx_page("Einverstanden"), "approve", "Einverstanden"),
    Case("blind: WEB.DE", gmx_page("Bitte erst Bob fragen"), "respond", "Bitte erst Bob fragen"),
    Case(
        "blind: GMX app",
        text_mail(
            f"abgelehnt\n-- \nDiese Nachricht wurde von meinem Android Mobiltelefon mit GMX Mail gesendet.\n\nAm 03.03.26, 09:14 schrieb Assistant <{ADDRESS}>:\n\n{quote()}\n"
        ),
        "reject",
        "abgelehnt",
    ),
    Case(
        "blind: WEB.DE app",
        text_mail(
            f"genehmigt\n\n-- \nDiese Nachricht wurde von meinem Android-Gerät mit WEB.DE Mail gesendet.\n\nAm 03.03.26, 09:14, Assistant <{ADDRESS}> schrieb:\n\n{quote()}\n"
        ),
        "approve",
        "genehmigt",
    ),
    Case("blind: Fastmail", fastmail("LGTM"), "approve", "LGTM"),
    Case("blind: Fastmail asks", fastmail("Why is Tom on it?"), "respond", "Why is Tom on it?"),
    Case("blind: Proton", proton("proceed"), "approve", "proceed"),
    Case("blind: Proton refuses", proton("decline"), "reject", "decline"),
    Case("blind: Zimbra", zimbra("Approved"), "approve", "Approved"),
    Case("blind: Zimbra, two paragraphs", zimbra("Approved\n\nTell me when it is out."), "respond"),
    Case("blind: Spark", spark("yes please"), "approve", "yes please"),
    Case("blind: Superhuman", superhuman("approve"), "approve", "approve"),
    Case("blind: HEY", hey("approve"), "approve", "approve"),
    Case("blind: Mailspring", mailspring("approve"), "approve", "approve"),
    Case("blind: KMail", kmail("approve"), "approve", "approve"),
    Case("blind: KMail refuses", kmail("no"), "reject", "no"),
    Case(
        "blind: KMail in German",
        text_mail(
            f"Am Dienstag, 3. März 2026, 09:14:22 Mitteleuropäische Normalzeit schrieb Assistant:\n{quote()}\n\ngenehmigt\n\n"
        ),
        "approve",
        "genehmigt",
    ),
    Case("blind: BlackBerry", blackberry("Approved."), "approve", "Approved."),
    Case("blind: BlackBerry, condition", blackberry("Approved for Maya only"), "respond", "Approved for Maya only"),
    Case("blind: Samsung", samsung_page("Approve"), "approve", "Approve"),
    Case("blind: Notes page", notes_page("Approved"), "approve", "Approved"),
    Case(
        "blind: Notes text",
        text_mail(f"Rejected\n\nRegards,\nAda\n\n\n\n{NOTES}\n\n\n{SENT_TEXT}"),
        "reject",
        "Rejected",
    ),
    Case("blind: eM Client", text_mail(f"approve\n\n{EMC}\n{SENT_TEXT}"), "approve", "approve"),
    Case("blind: eM Client marked", text_mail(f"approve\n\n{EMC}\n{quote(mark='>')}\n"), "approve", "approve"),
    Case(
        "blind: eM Client in German",
        text_mail(f"abgelehnt: zu teuer\n\n{EMC_DE}\n{SENT_TEXT}"),
        "reject",
        "abgelehnt: zu teuer",
    ),
    Case("blind: eM Client, remark", text_mail(f"approve\n\n{EMC}only the first one\n\n{SENT_TEXT}"), "respond"),
    Case("blind: The Bat", the_bat("approve"), "approve", "approve"),
    Case(
        "blind: mutt wraps",
        text_mail(
            f"On Tue, Mar 03, 2026 at 09:14:22AM +0100, Assistant wrote:\n{wrapped_quote()}\n\nreject\n\nwrong date in item 1\n\n-- \nAda Byron\n"
        ),
        "reject",
        "reject\n\nwrong date in item 1",
    ),
    Case(
        "blind: Evolution",
        text_mail(
            f"approve\n\nOn Tue, 2026-03-03 at 09:14 +0100, Assistant wrote:\n{quote()}\n\n",
            "User-Agent: Evolution 3.54",
        ),
        "approve",
        "approve",
    ),
    Case(
        "blind: Evolution below",
        text_mail(f"On Tue, 2026-03-03 at 09:14 +0100, Assistant wrote:\n{quote()}\n\nI would rather wait.\n"),
        "respond",
        "I would rather wait.",
    ),
    Case(
        "blind: Claws",
        text_mail(f"On Tue, 3 Mar 2026 09:14:22 +0100\nAssistant <{ADDRESS}> wrote:\n\n{quote()}\n\napprove\n"),
        "approve",
        "approve",
    ),
    Case(
        "blind: Geary",
        text_mail(f"approve\n\nOn Tue, 3 Mar 2026 at 09:14:22 +01:00:00, {WHO} wrote:\n{quote()}\n"),
        "approve",
        "approve",
    ),
    Case(
        "blind: K-9",
        text_mail(
            f"approve\n-- \nSent from my Android device with K-9 Mail. Please excuse my brevity.\n\n{WROTE}\n{quote(mark='>')}\n"
        ),
        "approve",
        "approve",
    ),
    Case(
        "blind: Thunderbird for Android",
        text_mail(
            f"reject\n\n-- \nSent from Thunderbird for Android. Please excuse my brevity.\n\nOn March 3, 2026 9:14:22 AM GMT+01:00, {WHO} wrote:\n{quote(mark='>')}\n"
        ),
        "reject",
        "reject",
    ),
    Case(
        "blind: FairEmail",
        both(
            f"approve\n\n03 Mar 2026 09:14:22 Assistant <{ADDRESS}>:\n\n{quote()}\n",
            f'<p dir="auto">approve</p><br><p>03 Mar 2026 09:14:22 Assistant &lt;{ADDRESS}&gt;:</p><blockquote type="cite">{broken()}</blockquote>',
        ),
        "approve",
        "approve",
    ),
    Case(
        "blind: Roundcube below",
        text_mail(f"W dniu 2026-03-03 09:14, Assistant napisał(a):\n\n{quote()}\n\nodrzucam\n"),
        "reject",
        "odrzucam",
    ),
    Case(
        "blind: SnappyMail",
        html_mail(
            f'<div>approve</div><br><div>3 March 2026 at 09:14, "Assistant" &lt;{ADDRESS}&gt; wrote:</div><blockquote>{broken()}</blockquote>'
        ),
        "approve",
        "approve",
    ),
    Case(
        "blind: SOGo",
        html_mail(
            f'approve<br><br>Le Mardi, Mars 03, 2026 09:14 CET, Assistant &lt;{ADDRESS}&gt; a écrit:<br>&nbsp;<blockquote type="cite" cite="{ADDRESS}">{broken()}</blockquote>'
        ),
        "approve",
        "approve",
    ),
    Case(
        "blind: Open-Xchange",
        html_mail(
            f'<html><body><div class="default-style">approve</div><blockquote type="cite"><div>On 03/03/2026 9:14 AM CET Assistant &lt;{ADDRESS}&gt; wrote:</div><div>&nbsp;</div><div>&nbsp;</div><div>{broken()}</div></blockquote></body></html>'
        ),
        "approve",
        "approve",
    ),
    Case("blind: Zoho", zoho("approve"), "approve", "approve"),
    Case("blind: QQ", qq("批准"), "approve", "批准"),
    Case("blind: NetEase", netease("拒绝"), "reject", "拒绝"),
    Case("blind: Naver", naver("승인"), "approve", "승인"),
    Case("blind: Mail.ru", mail_ru("Одобрено"), "approve", "Одобрено"),
    Case("blind: Yandex", yandex("нет, подождите"), "respond", "нет, подождите"),
    Case("blind: Seznam", seznam("schvaluji"), "approve", "schvaluji"),
    Case("blind: Tuta", tuta("Go ahead!"), "approve", "Go ahead!"),
    Case(
        "blind: Edison",
        plain_html("approve", WROTE, '<div style="border-left:1px solid #ccc">', "</div>"),
        "approve",
        "approve",
    ),
    Case(
        "blind: Nine",
        text_mail(
            f"approve\n\nSent from Nine<http://www.9folders.com/>\n________________________________\nFrom: {WHO}\nSent: Tuesday, 3 March 2026 09:14\nTo: Ada Byron\nSubject: {SUBJECT}\n\n{SENT_TEXT}"
        ),
        "approve",
        "approve",
    ),
    Case(
        "blind: Front",
        plain_html("reject: ask Bob", f"On March 3, 2026 at 9:14 AM GMT+1 {ADDRESS} wrote:"),
        "reject",
        "reject: ask Bob",
    ),
    Case(
        "blind: Missive",
        plain_html("approve", f"On March 3, 2026 at 9:14:22 AM GMT+1, {WHO} wrote:"),
        "approve",
        "approve",
    ),
    Case(
        "blind: Canary",
        plain_html("approve", f"On Tuesday, Mar 03, 2026 at 9:14 AM, {WHO} wrote:"),
        "approve",
        "approve",
    ),
    Case("blind: Mailbird", plain_html("approve", f"On 03/03/2026 9:14:22, {WHO} wrote:"), "approve", "approve"),
    Case(
        "blind: Gnus",
        text_mail(f"Assistant <{ADDRESS}> writes:\n\n{quote()}\n\napprove\n\n-- \nAda\n"),
        "approve",
        "approve",
    ),
    Case(
        "blind: Alpine",
        text_mail(f"approve\n\nOn Tue, 3 Mar 2026, Assistant wrote:\n\n{quote()}\n"),
        "approve",
        "approve",
    ),
    Case(
        "blind: no date, no address",
        text_mail(f"approve\n\nOn Monday Assistant wrote:\n{quote()}\n"),
        "approve",
        "approve",
    ),
    Case(
        "blind: no date, below", text_mail(f"Last week Assistant wrote:\n{quote()}\n\napprove\n"), "approve", "approve"
    ),
    Case(
        "blind: no date, German",
        text_mail(f"genehmigt\n\nAm Montag schrieb Assistant:\n{quote()}\n"),
        "approve",
        "genehmigt",
    ),
    Case(
        "blind: no date, other words",
        text_mail(f"approve\n\nOn Monday Assistant wrote that Tom is ill:\n{quote()}\n"),
        "respond",
    ),
    Case("blind: no date, condition", text_mail(f"approve\n\nBut not what Assistant wrote:\n{quote()}\n"), "respond"),
    Case("blind: attribution alone", text_mail(f"approve\n\n{WROTE}\n"), "approve", "approve"),
    Case(
        "blind: Sylpheed",
        text_mail(f"On Tue, 3 Mar 2026 09:14:22 +0100\nAssistant <{ADDRESS}> wrote:\n\n{quote()}\n\nno\n"),
        "reject",
        "no",
    ),
    Case(
        "blind: Outlook.com quote in a span",
        html_mail(
            f"<div>approve</div><span><hr>From: {html.escape(WHO)}<br>Sent: Tuesday, March 3, 2026 9:14 AM<br>To: Ada Byron<br>Subject: {html.escape(SUBJECT)}<br><br>{broken()}</span>"
        ),
        "approve",
        "approve",
    ),
    Case(
        "blind: Gmail, plain mode",
        text_mail(f"approve\n\nOn Tue, Mar 3, 2026 at 9:14 AM Assistant\n<{ADDRESS}> wrote:\n>\n{quote()}\n"),
        "approve",
        "approve",
    ),
    Case(
        "blind: Gmail, signature",
        both(
            f"approve\n\n-- \nAda Byron | Head of Purchasing\nWe are hiring! https://example.org/jobs\n\n{WROTE}\n\n{quote()}\n",
            f'<div dir="ltr">approve<br clear="all"><div><br></div><span class="gmail_signature_prefix">-- </span><br><div dir="ltr" class="gmail_signature" data-smartmail="gmail_signature"><div dir="ltr">Ada Byron | Head of Purchasing<br>We are hiring! <a href="https://example.org/jobs">https://example.org/jobs</a></div></div></div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">{html.escape(WROTE)}<br></div><blockquote class="gmail_quote">{broken()}</blockquote></div>',
        ),
        "approve",
        "approve",
    ),
    Case(
        "blind: Samsung text",
        text_mail(
            f"Approve\n\n\nSent from my Galaxy S24\n\n\n-------- Original message --------\nFrom: Assistant <{ADDRESS}>\nDate: 03/03/2026 09:14 (GMT+01:00)\nTo: you@postroom.internal\nSubject: {SUBJECT}\n\n{SENT_TEXT}"
        ),
        "approve",
        "approve".capitalize(),
    ),
    Case(
        "blind: Newton",
        text_mail(
            f"approve\n\nSent from Newton ( https://newtonhq.com/?utm )\n\nOn March 03, 2026 at 09:14 GMT, {WHO} wrote:\n\n{SENT_TEXT}"
        ),
        "approve",
        "approve",
    ),
    Case(
        "blind: flowed Thunderbird",
        whole(
            head("Content-Type: text/plain; charset=UTF-8; format=flowed"),
            f"On 3/3/26 09:14, Assistant wrote:\n{wrapped_quote(70)}\n\napprove\n\n",
        ),
        "approve",
        "approve",
    ),
]
