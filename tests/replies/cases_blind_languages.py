# ruff: noqa: E501 - a mail as a client lays it out is read best on one line
"""Outlook, Gmail, Apple Mail and Thunderbird in thirteen languages: each mail was judged before it was first read."""

import html
from dataclasses import dataclass

from tests.replies.case import Case
from tests.replies.clients import ADDRESS, SENT_TEXT, SUBJECT, both, broken, html_mail, quote, rows, text_mail


@dataclass(frozen=True, slots=True)
class Tongue:
    """How clients of one language write, and what their user says."""

    labels: tuple[str, str, str, str, str]
    """From, Sent, Date (of Outlook for Mac), To, Subject; with the blank that French has before a colon."""
    date: str
    original: str
    """The rule of Outlook's plain text."""
    mobile: str
    """The last line of Outlook for iOS."""
    gmail: str
    apple: str
    phone: str
    bird: str
    yes: str
    no: str
    but: str
    off: str
    """Closing formula, name and signature."""


def _us(text: str) -> str:
    return text.replace("@@", f"<{ADDRESS}>")


TONGUES = {
    "en": Tongue(
        ("From:", "Sent:", "Date:", "To:", "Subject:"), "Tuesday, March 3, 2026 9:14 AM", "-----Original Message-----",
        "Get Outlook for iOS", "On Tue, Mar 3, 2026 at 9:14 AM Assistant @@ wrote:", "On 3 Mar 2026, at 09:14, Assistant @@ wrote:",
        "Sent from my iPad", "On 3/3/26 9:14 AM, Assistant wrote:", "Approved", "Rejected: wrong address",
        "Go ahead once Bob has agreed.", "Kind regards,\nAda Byron\nHead of Purchasing\nExample Ltd\n+44 20 7946 0000",
    ),
    "de": Tongue(
        ("Von:", "Gesendet:", "Datum:", "An:", "Betreff:"), "Dienstag, 3. März 2026 09:14", "-----Ursprüngliche Nachricht-----",
        "Holen Sie sich Outlook für iOS", "Am Di., 3. März 2026 um 09:14 Uhr schrieb Assistant @@:",
        "Am 03.03.2026 um 09:14 schrieb Assistant @@:", "Von meinem iPhone gesendet", "Am 03.03.26 um 09:14 schrieb Assistant:",
        "Freigegeben", "abgelehnt: falsche Adresse", "Genehmigt, sobald Bob zugestimmt hat.",
        "Mit freundlichen Grüßen\nAda Byron\nLeiterin Einkauf\nExample GmbH\nTel. +49 30 123456",
    ),
    "fr": Tongue(
        ("De :", "Envoyé :", "Date :", "À :", "Objet :"), "mardi 3 mars 2026 09:14", "-----Message d'origine-----",
        "Télécharger Outlook pour iOS", "Le mar. 3 mars 2026 à 09:14, Assistant @@ a écrit :",
        "Le 3 mars 2026 à 09:14, Assistant @@ a écrit :", "Envoyé de mon iPhone", "Le 03/03/2026 à 09:14, Assistant a écrit :",
        "D'accord", "refusé: mauvaise adresse", "Approuvé dès que Bob aura dit oui.",
        "Cordialement,\nAda Byron\nResponsable Achats\nExample SARL\n+33 1 23 45 67 89",
    ),
    "es": Tongue(
        ("De:", "Enviado el:", "Fecha:", "Para:", "Asunto:"), "martes, 3 de marzo de 2026 9:14", "-----Mensaje original-----",
        "Obtener Outlook para iOS", "El mar, 3 mar 2026 a las 9:14, Assistant (@@) escribió:",
        "El 3 mar 2026, a las 9:14, Assistant @@ escribió:", "Enviado desde mi iPhone", "El 3/3/26 a las 9:14, Assistant escribió:",
        "De acuerdo", "rechazado: dirección equivocada", "Aprobado cuando Bob lo confirme.",
        "Un saludo,\nAda Byron\nDirectora de Compras\nExample S.L.\n+34 91 123 45 67",
    ),
    "it": Tongue(
        ("Da:", "Inviato:", "Data:", "A:", "Oggetto:"), "martedì 3 marzo 2026 09:14", "-----Messaggio originale-----",
        "Ottieni Outlook per iOS", "Il giorno mar 3 mar 2026 alle ore 09:14 Assistant @@ ha scritto:",
        "Il giorno 3 mar 2026, alle ore 09:14, Assistant @@ ha scritto:", "Inviato da iPhone", "Il 03/03/26 09:14, Assistant ha scritto:",
        "Approvato", "rifiutato: indirizzo sbagliato", "Approvato appena Bob conferma.",
        "Cordiali saluti,\nAda Byron\nUfficio Acquisti\nExample S.r.l.\n+39 02 1234567",
    ),
    "nl": Tongue(
        ("Van:", "Verzonden:", "Datum:", "Aan:", "Onderwerp:"), "dinsdag 3 maart 2026 09:14", "-----Oorspronkelijk bericht-----",
        "Outlook voor iOS downloaden", "Op di 3 mrt 2026 om 09:14 schreef Assistant @@:",
        "Op 3 mrt 2026, om 09:14 heeft Assistant @@ het volgende geschreven:", "Verstuurd vanaf mijn iPhone", "Op 03-03-2026 om 09:14 schreef Assistant:",
        "Akkoord", "afgewezen: verkeerd adres", "Akkoord zodra Bob het goedvindt.",
        "Met vriendelijke groet,\nAda Byron\nHoofd Inkoop\nExample B.V.\n+31 20 123 4567",
    ),
    "pl": Tongue(
        ("Od:", "Wysłane:", "Data:", "Do:", "Temat:"), "wtorek, 3 marca 2026 09:14", "-----Wiadomość oryginalna-----",
        "Pobierz aplikację Outlook dla systemu iOS", "wt., 3 mar 2026 o 09:14 Assistant @@ napisał(a):",
        "Wiadomość napisana przez Assistant @@ w dniu 3 mar 2026, o godz. 09:14:", "Wysłane z iPhone'a", "W dniu 3.03.2026 o 09:14, Assistant pisze:",
        "Zatwierdzam", "odrzucam: zły adres", "Zgoda, gdy Bob potwierdzi.",
        "Pozdrawiam,\nAda Byron\nKierownik Zakupów\nExample Sp. z o.o.\n+48 22 123 45 67",
    ),
    "pt": Tongue(
        ("De:", "Enviada em:", "Data:", "Para:", "Assunto:"), "terça-feira, 3 de março de 2026 09:14", "-----Mensagem original-----",
        "Obter o Outlook para iOS", "Em ter., 3 de mar. de 2026 às 09:14, Assistant @@ escreveu:",
        "Em 3 de mar. de 2026, à(s) 09:14, Assistant @@ escreveu:", "Enviado do meu iPhone", "Em 03/03/2026 09:14, Assistant escreveu:",
        "Aprovado", "recusado: endereço errado", "Aprovado assim que o Bob confirmar.",
        "Atenciosamente,\nAda Byron\nGerente de Compras\nExample Ltda.\n+55 11 1234-5678",
    ),
    "ja": Tongue(
        ("差出人:", "送信日時:", "日付:", "宛先:", "件名:"), "2026年3月3日 火曜日 9:14", "-----元のメッセージ-----",
        "iOS 版 Outlook を入手", "2026年3月3日(火) 9:14 Assistant @@:", "2026/03/03 9:14、Assistant @@のメール:",
        "iPhoneから送信", "On 2026/03/03 9:14, Assistant wrote:", "承認します", "却下: 宛先が違います", "承認します。ただし金曜日以降にしてください。",
        "よろしくお願いいたします。\nAda Byron\n株式会社エグザンプル 購買部\nTEL 03-1234-5678",
    ),
    "zh": Tongue(
        ("发件人:", "发送时间:", "日期:", "收件人:", "主题:"), "2026年3月3日 星期二 9:14", "-----邮件原件-----",
        "获取 iOS 版 Outlook", "Assistant @@ 于2026年3月3日周二 09:14写道：", "2026年3月3日 09:14，Assistant @@ 写道：",
        "发自我的 iPhone", "在 2026/3/3 9:14, Assistant 写道:", "同意", "拒绝: 地址错误", "同意，但要先问Bob。",
        "谢谢！\nAda Byron\n采购部经理\n示例有限公司\n+86 10 1234 5678",
    ),
    "ru": Tongue(
        ("От:", "Отправлено:", "Дата:", "Кому:", "Тема:"), "3 марта 2026 г. 9:14", "-----Исходное сообщение-----",
        "Скачать Outlook для iOS", "вт, 3 мар. 2026 г. в 09:14, Assistant @@:", "3 марта 2026 г., в 09:14, Assistant @@ написал(а):",
        "Отправлено с iPhone", "03.03.2026 09:14, Assistant пишет:", "Согласен", "отклоняю: неверный адрес", "Одобряю, когда Боб подтвердит.",
        "С уважением,\nAda Byron\nОтдел закупок\nООО Пример\n+7 495 123-45-67",
    ),
    "tr": Tongue(
        ("Kimden:", "Gönderilme tarihi:", "Tarih:", "Kime:", "Konu:"), "3 Mart 2026 Salı 09:14", "-----Özgün İleti-----",
        "iOS için Outlook'u edinin", "Assistant @@, 3 Mar 2026 Sal, 09:14 tarihinde şunu yazdı:", "Assistant @@ şunları yazdı (3 Mar 2026 09:14):",
        "iPhone'umdan gönderildi", "3.03.2026 09:14 tarihinde Assistant yazdı:", "Onaylıyorum", "reddedildi: yanlış adres", "Bob kabul ederse onaylıyorum.",
        "Saygılarımla,\nAda Byron\nSatın Alma Müdürü\nExample A.Ş.\n+90 212 123 45 67",
    ),
    "sv": Tongue(
        ("Från:", "Skickat:", "Datum:", "Till:", "Ämne:"), "den 3 mars 2026 09:14", "-----Ursprungligt meddelande-----",
        "Hämta Outlook för iOS", "Den tis 3 mars 2026 kl 09:14 skrev Assistant @@:", "3 mars 2026 kl. 09:14 skrev Assistant @@:",
        "Skickat från min iPhone", "Den 2026-03-03 kl. 09:14, skrev Assistant:", "Godkänt", "avslag: fel adress", "Godkänt när Bob har sagt ja.",
        "Med vänlig hälsning\nAda Byron\nInköpschef\nExample AB\n+46 8 123 456",
    ),
}  # packed, to be seen at a glance  # fmt: skip


def _block(tongue: Tongue, *, mac: bool = False) -> list[tuple[str, str]]:
    sender, sent, date, to, subject = tongue.labels
    return [
        (sender, f"Assistant <{ADDRESS}>"),
        (date if mac else sent, tongue.date),
        (to, "Ada Byron <you@postroom.internal>"),
        (subject, SUBJECT),
    ]


def _plain_block(tongue: Tongue, *, mac: bool = False) -> str:
    return "\n".join(f"{label} {value}" for label, value in _block(tongue, mac=mac))


def _html_block(tongue: Tongue, *, mac: bool = False) -> str:
    return "<br>\n".join(f"<b>{label}</b> {html.escape(value)}" for label, value in _block(tongue, mac=mac))


def _paragraphs(text: str) -> str:
    return "".join(f"<p class=MsoNormal>{html.escape(row) or '<o:p>&nbsp;</o:p>'}</p>\n" for row in text.split("\n"))


def classic_plain(words: str, tongue: Tongue) -> bytes:
    return text_mail(
        f"{words}\n\n{tongue.original}\n{_plain_block(tongue)}\n\n{SENT_TEXT}", "X-Mailer: Microsoft Outlook 16.0"
    )


def classic_page(words: str, tongue: Tongue) -> bytes:
    page = (
        '<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><style><!--\np.MsoNormal {margin:0cm; font-size:11.0pt;}\n-->'
        f"</style></head><body lang=EN-GB link=blue><div class=WordSection1>{_paragraphs(words)}<p class=MsoNormal><o:p>&nbsp;</o:p></p>"
        "<div><div style='border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm'><p class=MsoNormal>"
        f"{_html_block(tongue)}<o:p></o:p></p></div></div><p class=MsoNormal><o:p>&nbsp;</o:p></p>{_paragraphs(SENT_TEXT)}</div></body></html>"
    )
    return both(f"{words}\n\n \n\n{_plain_block(tongue)}\n\n \n\n{SENT_TEXT}", page, "X-Mailer: Microsoft Outlook 16.0")


def new_outlook(words: str, tongue: Tongue) -> bytes:
    page = (
        '<html><head><meta charset="utf-8"><style type="text/css" style="display:none;">P {margin-top:0;margin-bottom:0;}</style></head>'
        f'<body dir="ltr">{rows(words)}'
        '<div id="appendonsend"></div><hr style="display:inline-block;width:98%" tabindex="-1"><div id="divRplyFwdMsg" dir="ltr">'
        f'<font face="Calibri, sans-serif" style="font-size:11pt" color="#000000">{_html_block(tongue)}</font><div>&nbsp;</div></div>'
        f"<div>{rows(SENT_TEXT)}</div></body></html>"
    )
    return both(f"{words}\n\n________________________________\n{_plain_block(tongue)}\n\n{SENT_TEXT}", page)


def mobile(words: str, tongue: Tongue) -> bytes:
    link = '<a href="https://aka.ms/o0ukef">'
    page = (
        f'<html><body><div dir="auto">{html.escape(words)}</div><div id="ms-outlook-mobile-body-separator-line"><br></div>'
        f'<div id="ms-outlook-mobile-signature">{link}{tongue.mobile}</a></div><hr style="display:inline-block;width:98%">'
        f'<div id="divRplyFwdMsg" dir="ltr"><font face="Calibri, sans-serif">{_html_block(tongue)}</font></div><div>{broken()}</div></body></html>'
    )
    plain = f"{words}\n\n{tongue.mobile}<https://aka.ms/o0ukef>\n________________________________\n{_plain_block(tongue)}\n\n{SENT_TEXT}"
    return both(plain, page)


def mac_outlook(words: str, tongue: Tongue) -> bytes:
    page = (
        f'<html><body lang="EN-US"><div class="WordSection1">{_paragraphs(words)}<div id="mail-editor-reference-message-container">'
        f'<div style="border:none;border-top:solid #B5C4DF 1.0pt"><p class="MsoNormal">{_html_block(tongue, mac=True)}</p></div>'
        f"{_paragraphs(SENT_TEXT)}</div></div></body></html>"
    )
    return both(
        f"{words}\n\n{_plain_block(tongue, mac=True)}\n{SENT_TEXT}", page, "User-Agent: Microsoft-MacOutlook/16.94"
    )


def gmail_app(words: str, tongue: Tongue) -> bytes:
    wrote = _us(tongue.gmail)
    at = wrote.find("<")
    page = (
        f'<div dir="auto">{html.escape(words).replace(chr(10), "<br>")}</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">'
        f'{html.escape(wrote)}<br></div><blockquote class="gmail_quote" style="margin:0 0 0 .8ex;border-left:1px #ccc solid">{broken()}'
        "<br>\n</blockquote></div>"
    )
    return both(f"{words}\n\n{wrote[:at].rstrip()}\n{wrote[at:]}\n\n{quote()}\n", page)


def apple_mail(words: str, tongue: Tongue) -> bytes:
    wrote = _us(tongue.apple)
    page = (
        f'<html><body>{rows(words)}<br id="lineBreakAtBeginningOfMessage"><div><br><blockquote type="cite"><div>{html.escape(wrote)}</div><br>'
        f"<div>{broken()}</div></blockquote></div></body></html>"
    )
    return both(f"{words}\n\n\n> {wrote}\n> \n{quote()}\n", page, "X-Mailer: Apple Mail (2.3864)")


def iphone(words: str, tongue: Tongue) -> bytes:
    wrote = _us(tongue.apple)
    page = (
        f'<html><body dir="auto">{html.escape(words)}<div><br id="lineBreakAtBeginningOfSignature"><div dir="ltr">{tongue.phone}</div>'
        f'<div dir="ltr"><br><blockquote type="cite">{html.escape(wrote)}<br><br></blockquote></div><blockquote type="cite">'
        f'<div dir="ltr">\ufeff{broken()}</div></blockquote></div></body></html>'
    )
    return both(
        f"{words}\n\n{tongue.phone}\n\n> {wrote}\n> \n> \ufeff{quote()[2:]}\n", page, "X-Mailer: iPhone Mail (23D5089e)"
    )


def thunderbird_page(words: str, tongue: Tongue) -> bytes:
    return html_mail(
        f'<!DOCTYPE html><html><body><div class="moz-cite-prefix">{tongue.bird}<br></div><blockquote type="cite" cite="mid:req-77.1">'
        f'<pre wrap="" class="moz-quote-pre">{html.escape(SENT_TEXT)}</pre></blockquote><p>{html.escape(words).replace(chr(10), "<br>")}</p></body></html>',
        "User-Agent: Mozilla Thunderbird",
    )


LANGUAGES: list[Case] = [
    case
    for name, tongue in TONGUES.items()
    for case in (
        Case(
            f"blind: Outlook text {name}", classic_plain(f"{tongue.yes}\n\n{tongue.off}", tongue), "approve", tongue.yes
        ),
        Case(f"blind: Outlook page {name}", classic_page(f"{tongue.no}\n\n{tongue.off}", tongue), "reject", tongue.no),
        Case(
            f"blind: new Outlook {name}",
            new_outlook(f"{tongue.yes}.\n\n{tongue.off}", tongue),
            "approve",
            f"{tongue.yes}.",
        ),
        Case(f"blind: Outlook iOS {name}", mobile(tongue.yes, tongue), "approve", tongue.yes),
        Case(f"blind: Outlook for Mac {name}", mac_outlook(tongue.but, tongue), "respond", tongue.but),
        Case(
            f"blind: Gmail app {name}",
            gmail_app(f"edit: 2 > bob@example.org\n\n{tongue.off}", tongue),
            "edit",
            "edit: 2 > bob@example.org",
        ),
        Case(f"blind: Apple Mail {name}", apple_mail(f"{tongue.no}\n\n{tongue.off}", tongue), "reject", tongue.no),
        Case(f"blind: iPhone {name}", iphone(tongue.yes, tongue), "approve", tongue.yes),
        Case(f"blind: Thunderbird {name}", thunderbird_page(tongue.but, tongue), "respond", tongue.but),
    )
]
