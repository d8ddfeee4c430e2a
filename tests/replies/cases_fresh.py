# ruff: noqa: E501 - a mail as a client lays it out is read best on one line
"""Replies of clients and languages that the reader was not built with: each was judged before it was first read."""

import html

from tests.replies.case import Case
from tests.replies.clients import (
    ADDRESS,
    SENT_TEXT,
    SUBJECT,
    both,
    broken,
    html_mail,
    quote,
    text_mail,
)

LABELS = {
    "de": ("Von", "Gesendet", "An", "Betreff"),
    "fr": ("De", "Envoyé", "À", "Objet"),
    "es": ("De", "Enviado", "Para", "Asunto"),
    "it": ("Da", "Inviato", "A", "Oggetto"),
    "pt": ("De", "Enviada em", "Para", "Assunto"),
    "nl": ("Van", "Verzonden", "Aan", "Onderwerp"),
    "pl": ("Od", "Wysłano", "Do", "Temat"),
    "ru": ("От", "Отправлено", "Кому", "Тема"),
    "ja": ("差出人", "送信日時", "宛先", "件名"),
    "zh": ("发件人", "发送时间", "收件人", "主题"),
    "ko": ("보낸 사람", "보낸 날짜", "받는 사람", "제목"),
    "ar": ("من", "تم الإرسال", "إلى", "الموضوع"),
    "he": ("מאת", "נשלח", "אל", "נושא"),
}
DATES = {
    "de": "Dienstag, 3. März 2026 09:14",
    "fr": "mardi 3 mars 2026 09:14",
    "es": "martes, 3 de marzo de 2026 9:14",
    "it": "martedì 3 marzo 2026 09:14",
    "pt": "terça-feira, 3 de março de 2026 09:14",
    "nl": "dinsdag 3 maart 2026 09:14",
    "pl": "wtorek, 3 marca 2026 09:14",
    "ru": "3 марта 2026 г. 9:14",
    "ja": "2026年3月3日 9:14",
    "zh": "2026年3月3日 9:14",
    "ko": "2026년 3월 3일 화요일 오전 9:14",
    "ar": "03 مارس, 2026 09:14 ص",
    "he": "יום שלישי 3 מרץ 2026 09:14",
}
WROTE = {
    "de": f"Am Di., 3. März 2026 um 09:14 Uhr schrieb Assistant <{ADDRESS}>:",
    "fr": f"Le mar. 3 mars 2026 à 09:14, Assistant <{ADDRESS}> a écrit :",
    "es": f"El mar, 3 mar 2026 a las 9:14, Assistant (<{ADDRESS}>) escribió:",
    "it": f"Il giorno mar 3 mar 2026 alle ore 09:14 Assistant <{ADDRESS}> ha scritto:",
    "pt": f"Em ter., 3 de mar. de 2026 às 09:14, Assistant <{ADDRESS}> escreveu:",
    "nl": f"Op di 3 mrt 2026 om 09:14 schreef Assistant <{ADDRESS}>:",
    "pl": f"wt., 3 mar 2026 o 09:14 Assistant <{ADDRESS}> napisał(a):",
    "ru": f"вт, 3 мар. 2026 г. в 09:14, Assistant <{ADDRESS}>:",
    "ja": f"2026年3月3日(火) 9:14 Assistant <{ADDRESS}>:",
    "zh": f"Assistant <{ADDRESS}> 于2026年3月3日周二 09:14写道：",
    "ko": f"2026년 3월 3일 (화) 오전 9:14, Assistant <{ADDRESS}>님이 작성:",
    "ar": f"في الثلاثاء، 3 مارس 2026 في 9:14 ص تمت كتابة ما يلي بواسطة Assistant <{ADDRESS}>:",
    "he": f"\u202bבתאריך יום ג׳, 3 במרץ 2026 ב-9:14 מאת \u202aAssistant\u202c\u200f <\u202a{ADDRESS}\u202c\u200f>:\u202c",
}
YES = {
    "de": "Genehmigt.",
    "fr": "Approuvé",
    "es": "Aprobado",
    "it": "approvo",
    "pt": "Aprovado!",
    "nl": "Goedgekeurd",
    "pl": "Zatwierdzam",
    "ru": "Одобряю",
    "ja": "承認します。",
    "zh": "同意",
    "ko": "승인합니다",
    "ar": "أوافق",
    "he": "מאשר",
}
NO = {
    "de": "abgelehnt",
    "fr": "refusé",
    "es": "rechazado",
    "it": "rifiuto",
    "pt": "rejeitado",
    "nl": "afgewezen",
    "pl": "odrzucam",
    "ru": "отклонено",
    "ja": "却下",
    "zh": "拒绝",
    "ko": "거절",
    "ar": "أرفض",
    "he": "לא",
}
BUT = {
    "de": "Bitte aber erst ab Montag.",
    "fr": "Mais sans la dernière phrase.",
    "es": "Pero quita lo del presupuesto.",
    "it": "Però togli la data.",
    "pt": "Mas tira a última linha.",
    "nl": "Wel graag zonder het budget.",
    "pl": "Tylko bez budżetu.",
    "ru": "Только уберите бюджет.",
    "ja": "ただし予算は削除してください。",
    "zh": "但是请去掉预算。",
    "ko": "다만 예산은 빼 주세요.",
    "ar": "لكن احذف الميزانية.",
    "he": "אבל בלי התקציב.",
}
OFF = {
    "de": "Mit freundlichen Grüßen\nAda Byron",
    "fr": "Cordialement,\nAda Byron",
    "es": "Un saludo,\nAda",
    "it": "Cordiali saluti,\nAda Byron",
    "pt": "Atenciosamente,\nAda Byron",
    "nl": "Met vriendelijke groet,\nAda",
    "pl": "Pozdrawiam,\nAda Byron",
    "ru": "С уважением,\nAda Byron",
    "ja": "よろしくお願いいたします。",
    "zh": "谢谢",
    "ko": "감사합니다",
    "ar": "مع تحياتي،\nAda",
    "he": "תודה,\nAda",
}


def outlook(words: str, language: str) -> str:
    """Outlook for desktop, as plain text."""
    values = (f"Assistant <{ADDRESS}>", DATES[language], "Ada Byron <you@postroom.internal>", SUBJECT)
    block = "\n".join(f"{label}: {value}" for label, value in zip(LABELS[language], values, strict=True))
    return f"{words}\n\n{block}\n\n{SENT_TEXT}"


def gmail(words: str, language: str) -> bytes:
    """Gmail on the web in another language."""
    page = (
        f'<div dir="auto">{html.escape(words).replace(chr(10), "<br>")}</div><br><div class="gmail_quote"><div dir="ltr"'
        f' class="gmail_attr">{html.escape(WROTE[language])}<br></div><blockquote class="gmail_quote" style="margin:0 0 0'
        f' .8ex">{broken()}</blockquote></div>'
    )
    return both(f"{words}\n\n{WROTE[language]}\n\n{quote()}\n", page)


LANGUAGES = [
    *(Case(f"fresh: Outlook {k}", text_mail(outlook(YES[k], k)), "approve", YES[k]) for k in YES),
    *(Case(f"fresh: Gmail {k}", gmail(f"{YES[k]}\n\n{OFF[k]}", k), "approve") for k in YES),
    *(Case(f"fresh: Gmail refuses {k}", gmail(f"{NO[k]}\n\n{OFF[k]}", k), "reject") for k in YES),
    *(Case(f"fresh: Gmail condition {k}", gmail(f"{YES[k]}\n{BUT[k]}\n\n{OFF[k]}", k), "respond") for k in YES),
    *(Case(f"fresh: Outlook condition {k}", text_mail(outlook(f"{YES[k]} {BUT[k]}", k)), "respond") for k in YES),
]

OUTLOOK_WEB = (
    '<html><head><style>P {{margin-top:0;margin-bottom:0;}}</style></head><body dir="ltr"><div class="elementToProof"'
    ' style="font-family: Aptos; font-size: 12pt; color: rgb(0, 0, 0);">{words}</div><div id="appendonsend"></div><hr'
    ' style="display:inline-block;width:98%" tabindex="-1"><div id="divRplyFwdMsg" dir="ltr"><font face="Calibri"><b>From:'
    "</b> Assistant &lt;{address}&gt;<br><b>Sent:</b> Tuesday, March 3, 2026 9:14 AM<br><b>To:</b> Ada Byron<br><b>Subject:"
    "</b> {subject}</font><div>&nbsp;</div></div><div>{quoted}</div></body></html>"
)
IOS_SIGNATURE = '<div id="ms-outlook-mobile-signature">Get <a href="https://aka.ms/o0ukef">Outlook for iOS</a></div>'


def outlook_web(words: str) -> bytes:
    return html_mail(OUTLOOK_WEB.format(words=words, address=ADDRESS, subject=html.escape(SUBJECT), quoted=broken()))


PROTON = (
    '<div style="font-family: Arial; font-size: 14px;">{words}</div><div class="protonmail_signature_block"><div class="'
    'protonmail_signature_block-proton">Sent with <a href="https://proton.me/mail/home">Proton Mail</a> secure email.</div>'
    '</div><div class="protonmail_quote">On Tuesday, March 3rd, 2026 at 9:14 AM, Assistant &lt;{address}&gt; wrote:<br>'
    '<blockquote class="protonmail_quote" type="cite">{quoted}</blockquote></div>'
)
NOTES = (
    f'{{words}}\n\n\n\nFrom:\t"Assistant" <{ADDRESS}>\nTo:\t"Ada Byron" <you@postroom.internal>\nDate:\t03/03/2026 09:14\n'
    f"Subject:\t{SUBJECT}\n\n\n\n{SENT_TEXT}"
)
ZIMBRA = (
    f'{{words}}\n\n----- Original Message -----\nFrom: "Assistant" <{ADDRESS}>\nTo: "Ada Byron" <you@postroom.internal>\n'
    f"Sent: Tuesday, March 3, 2026 9:14:22 AM\nSubject: {SUBJECT}\n\n{SENT_TEXT}"
)
K9 = f"{{words}}\n-- \nSent from my Android device with K-9 Mail. Please excuse my brevity.\n\nAm 3. März 2026 09:14:22 MEZ schrieb Assistant <{ADDRESS}>:\n{quote(mark='>')}\n"
FAIREMAIL = f"{{words}}\n\nMar 3, 2026 9:14:22 AM Assistant <{ADDRESS}>:\n\n{quote()}\n"
LIST_FOOTER = "\n_______________________________________________\nteam mailing list\nteam@lists.example.org\n"
TICKET = f"##- Please type your reply above this line -##\n\n{SENT_TEXT}"
APPLE_FR = f"{{words}}\n\nEnvoyé de mon iPhone\n\n{quote(f'Le 3 mars 2026 à 09:14, Assistant <{ADDRESS}> a écrit :')}\n> \n{quote()}\n"
AQUA = f"{{words}}\n\nGet BlueMail for Android\n\nOn 3 Mar 2026, at 09:14, Assistant <{ADDRESS}> wrote:\n{quote(mark='>')}\n"

PROGRAMS = [
    Case("fresh: Outlook web", outlook_web("approve<br>"), "approve", "approve"),
    Case("fresh: Outlook iOS", outlook_web(f"<div>Approve</div><br>{IOS_SIGNATURE}"), "approve", "Approve"),
    Case("fresh: Outlook web, a remark", outlook_web("<p>approve</p><p>Drop the second one.</p>"), "respond"),
    Case("fresh: Outlook web, struck out", outlook_web("<p>approve <s>reject</s></p>"), "respond"),
    Case("fresh: Outlook web, a table", outlook_web("<table><tr><td>approve</td></tr></table>"), "approve", "approve"),
    Case(
        "fresh: Proton",
        html_mail(PROTON.format(words="approve", address=ADDRESS, quoted=broken())),
        "approve",
        "approve",
    ),
    Case("fresh: Proton asks", html_mail(PROTON.format(words="approve?", address=ADDRESS, quoted=broken())), "respond"),
    Case("fresh: Notes", text_mail(NOTES.format(words="Approved")), "approve", "Approved"),
    Case("fresh: Notes condition", text_mail(NOTES.format(words="Approved\nfor Maya only")), "respond"),
    Case("fresh: Zimbra", text_mail(ZIMBRA.format(words="approve")), "approve", "approve"),
    Case("fresh: Zimbra refuses", text_mail(ZIMBRA.format(words="Reject: wrong Maya")), "reject", "Reject: wrong Maya"),
    Case("fresh: K-9", text_mail(K9.format(words="ok")), "approve", "ok"),
    Case("fresh: K-9 condition", text_mail(K9.format(words="ok\nbut later")), "respond"),
    Case("fresh: FairEmail", text_mail(FAIREMAIL.format(words="go ahead")), "approve", "go ahead"),
    Case("fresh: Apple Mail in French", text_mail(APPLE_FR.format(words="approuver")), "approve", "approuver"),
    Case("fresh: BlueMail", text_mail(AQUA.format(words="LGTM")), "approve", "LGTM"),
    Case(
        "fresh: footer of a list",
        text_mail(f"approve\n{LIST_FOOTER}", "List-Id: <team.lists.example.org>"),
        "none",
        auto=True,
    ),
    Case("fresh: ticket system above the line", text_mail(f"approve\n\n{quote(TICKET)}\n"), "respond"),
    Case(
        "fresh: Roundcube in German",
        text_mail(f"Am 2026-03-03 09:14, schrieb Assistant:\n{quote()}\n\nfreigegeben\n"),
        "approve",
        "freigegeben",
    ),
    Case(
        "fresh: Roundcube HTML",
        html_mail(
            f'<p>approve</p><p id="reply-intro">On 2026-03-03 09:14, Assistant wrote:</p><blockquote type="cite" style="padding: 0 0.4em">{broken()}</blockquote>'
        ),
        "approve",
        "approve",
    ),
    Case(
        "fresh: SOGo",
        text_mail(f"approve\n\nOn Tuesday, March 03, 2026 09:14 CET, Assistant <{ADDRESS}> wrote:\n\n{quote()}\n"),
        "approve",
        "approve",
    ),
    Case("fresh: Horde", text_mail(f"\nQuoting Assistant <{ADDRESS}>:\n\n{quote()}\n\nreject\n"), "reject", "reject"),
    Case(
        "fresh: GMX web",
        html_mail(
            f'<html><body><div style="font-family: Verdana;"><div>genehmigt</div><div>&nbsp;</div><div><div name="quote" style="margin:10px 5px;"><div><b>Gesendet:</b>&nbsp;Dienstag, 03. März 2026 um 09:14 Uhr<br/><b>Von:</b>&nbsp;&quot;Assistant&quot; &lt;{ADDRESS}&gt;<br/><b>An:</b>&nbsp;you@postroom.internal<br/><b>Betreff:</b>&nbsp;{html.escape(SUBJECT)}</div><div name="quoted-content">{broken()}</div></div></div></div></body></html>'
        ),
        "approve",
        "genehmigt",
    ),
    Case(
        "fresh: Mail.ru",
        text_mail(
            f"согласен\n\n--\nAda Byron\n\nВторник, 3 марта 2026, 9:14 +01:00 от Assistant <{ADDRESS}>:\n\n{quote(mark='>')}\n"
        ),
        "approve",
        "согласен",
    ),
    Case(
        "fresh: Yandex",
        html_mail(
            f'<div>одобрено</div><div>\xa0</div><div>03.03.2026, 09:14, "Assistant" &lt;{ADDRESS}&gt;:</div><blockquote><p>{broken()}</p></blockquote>'
        ),
        "approve",
        "одобрено",
    ),
    Case(
        "fresh: QQ Mail",
        text_mail(
            f'同意\n\n\n\n------------------ 原始邮件 ------------------\n发件人: "Assistant" <{ADDRESS}>;\n发送时间: 2026年3月3日(星期二) 上午9:14\n收件人: "Ada"<you@postroom.internal>;\n主题: {SUBJECT}\n\n{SENT_TEXT}'
        ),
        "approve",
        "同意",
    ),
    Case(
        "fresh: NetEase 163",
        text_mail(f'批准\n\n\n\n\n\n\n在 2026-03-03 09:14:22，"Assistant" <{ADDRESS}> 写道：\n\n{quote(mark=">")}\n'),
        "approve",
        "批准",
    ),
    Case(
        "fresh: Naver",
        text_mail(
            f'승인\n\n-----Original Message-----\nFrom: "Assistant" <{ADDRESS}>\nTo: "Ada" <you@postroom.internal>;\nCc:\nSent: 2026-03-03 (화) 09:14:22 (GMT+09:00)\nSubject: {SUBJECT}\n\n{SENT_TEXT}'
        ),
        "approve",
        "승인",
    ),
    Case(
        "fresh: Becky! in Japanese",
        text_mail(f"{quote()}\n\n承認\n\n--\nAda Byron <you@postroom.internal>\n"),
        "approve",
        "承認",
    ),
    Case(
        "fresh: Evolution",
        text_mail(
            f"On Tue, 2026-03-03 at 09:14 +0100, Assistant wrote:\n{quote()}\n\napprove 1\n\n-- \nAda Byron <you@postroom.internal>\n"
        ),
        "approve",
        "approve 1",
    ),
    Case(
        "fresh: KMail",
        text_mail(f"On Dienstag, 3. März 2026 09:14:22 CET Assistant wrote:\n{quote()}\n\nApproved!\n\n"),
        "approve",
        "Approved!",
    ),
    Case(
        "fresh: Claws",
        text_mail(
            f"On Tue, 3 Mar 2026 09:14:22 +0100\nAssistant <{ADDRESS}> wrote:\n\n{quote()}\n\nreject 2: not to him\n"
        ),
        "reject",
        "reject 2: not to him",
    ),
    Case(
        "fresh: Gnus",
        text_mail(f"Assistant <{ADDRESS}> writes:\n\n{quote()}\n\napprove\n\n-- \nAda\n"),
        "approve",
        "approve",
    ),
    Case(
        "fresh: Alpine",
        text_mail(f"approve\n\nOn Tue, 3 Mar 2026, Assistant wrote:\n\n{quote()}\n"),
        "approve",
        "approve",
    ),
    Case(
        "fresh: Spark",
        text_mail(f"approve\n\nOn 3 Mar 2026 at 09:14 +0100, Assistant <{ADDRESS}>, wrote:\n{quote()}\n"),
        "approve",
        "approve",
    ),
    Case(
        "fresh: HEY",
        html_mail(
            f'<div class="trix-content"><div>approve</div></div><br><br>On March 3, 2026, Assistant &lt;{ADDRESS}&gt; wrote:<br><blockquote>{broken()}</blockquote>'
        ),
        "approve",
        "approve",
    ),
    Case(
        "fresh: Superhuman",
        html_mail(
            f'<div>approve</div><br/><div class="sh-signature"><div>Sent via <a href="https://sprh.mn">Superhuman</a></div></div><br/><div class="gmail_quote">On Tue, Mar 03, 2026 at 9:14 AM, Assistant <span dir="ltr">&lt;{ADDRESS}&gt;</span> wrote:<br/><blockquote class="gmail_quote">{broken()}</blockquote></div>'
        ),
        "approve",
        "approve",
    ),
]

FRESH = [*LANGUAGES, *PROGRAMS]
