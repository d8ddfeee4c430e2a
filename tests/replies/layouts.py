# ruff: noqa: E501 - a mail as a client lays it out is read best on one line
"""More mail programs, each with its own layout; as in `clients`, the words go in unchanged."""

import html
import textwrap

from tests.replies.clients import (
    ADDRESS,
    SENT_TEXT,
    SUBJECT,
    both,
    broken,
    html_mail,
    quote,
    rows,
    text_mail,
)

WHO = f"Assistant <{ADDRESS}>"
WROTE = f"On Tue, 3 Mar 2026 at 09:14, {WHO} wrote:"
EMC = (
    f'------ Original Message ------\nFrom "Assistant" <{ADDRESS}>\nTo "Ada Byron" <you@postroom.internal>\nDate 3/3/2026 9:14:22 AM\n'
    f"Subject {SUBJECT}\n"
)
EMC_DE = (
    f'------ Originalnachricht ------\nVon "Assistant" <{ADDRESS}>\nAn "Ada Byron" <you@postroom.internal>\nDatum 03.03.2026 09:14:22\n'
    f"Betreff {SUBJECT}\n"
)
NOTES = f"From:\tAssistant <{ADDRESS}>\nTo:\tAda Byron/Example@EXAMPLE\nDate:\t03.03.2026 09:14\nSubject:\t{SUBJECT}\n"


def joined(text: str = SENT_TEXT) -> str:
    """All rows of the sent mail run together, as programs quote it that drop line breaks."""
    return " ".join(text.split())


def yahoo_app(words: str, below: str = "Yahoo Mail: Search, Organize, Conquer") -> bytes:
    """The app for Android: attribution and quote on one line of the plain part."""
    plain = f"{words}\n\n{below}\n \n  On Tue, Mar 3, 2026 at 9:14 AM, Assistant<{ADDRESS}> wrote:   {joined()}  \n"
    page = (
        f'{html.escape(words)}<br><br><div id="ymail_android_signature"><a id="ymail_android_signature_link" href="https://mail.onelink.me/1">{below}</a></div>'
        f' <br> <blockquote style="margin: 0 0 20px 0;"> <div style="font-family:Roboto, sans-serif; color:#6D00F6;"> <div>On Tue, Mar 3, 2026 at 9:14 AM, Assistant</div>'
        f"<div>&lt;{ADDRESS}&gt; wrote:</div> </div> <div>{broken()}</div> </blockquote>"
    )
    return both(plain, page)


def gmx_page(words: str, by: str = "Von", wrote: str = "Gesendet") -> bytes:
    return html_mail(
        f'<html><head></head><body><div style="font-family: Verdana;font-size: 12.0px;"><div>{html.escape(words)}</div><div>&nbsp;<div name="quote" '
        f'style="margin:10px 5px 5px 10px; padding: 10px 0 10px 10px; border-left:2px solid #C3D9E5;"><div style="margin:0 0 10px 0;"><b>{wrote}:</b>&nbsp;Dienstag, '
        f"3. M&auml;rz 2026 um 09:14 Uhr<br/><b>{by}:</b>&nbsp;&quot;Assistant&quot; &lt;{ADDRESS}&gt;<br/><b>An:</b>&nbsp;you@postroom.internal<br/><b>Betreff:</b>&nbsp;"
        f'{html.escape(SUBJECT)}</div><div name="quoted-content">{broken()}</div></div></div></div></body></html>'
    )


def fastmail(words: str) -> bytes:
    page = (
        f"<!DOCTYPE html><html><head><title></title></head><body>{rows(words)}<div><br></div><div>On Tue, Mar 3, 2026, at 9:14 AM, Assistant wrote:</div>"
        f'<blockquote type="cite" id="qt" style=""><div class="qt-x">{broken()}</div></blockquote></body></html>'
    )
    return both(f"{words}\n\nOn Tue, Mar 3, 2026, at 9:14 AM, Assistant wrote:\n{quote()}\n", page)


def proton(words: str) -> bytes:
    return both(
        f"{words}\n\nSent with [Proton Mail](https://proton.me/mail/home) secure email.\n\nOn Tuesday, March 3rd, 2026 at 9:14 AM, {WHO} wrote:\n\n{quote()}\n",
        f'<div style="font-family: Arial;">{html.escape(words)}</div><div class="protonmail_signature_block"><div class="protonmail_signature_block-proton">Sent with '
        f'<a href="https://proton.me/mail/home">Proton Mail</a> secure email.</div></div><div class="protonmail_quote">On Tuesday, March 3rd, 2026 at 9:14 AM, Assistant '
        f'&lt;{ADDRESS}&gt; wrote:<br><blockquote class="protonmail_quote" type="cite">{broken()}</blockquote></div>',
    )


def zimbra(words: str) -> bytes:
    block = f'From: "Assistant" <{ADDRESS}>\nTo: "Ada Byron" <you@postroom.internal>\nSent: Tuesday, 3 March, 2026 09:14:22\nSubject: {SUBJECT}'
    page = (
        f'<html><body><div style="font-family: arial; font-size: 12pt">{rows(words)}<div><br></div><hr id="zwchr" data-marker="__DIVIDER__"><div data-marker="__HEADERS__">'
        f"<b>From: </b>&quot;Assistant&quot; &lt;{ADDRESS}&gt;<br><b>To: </b>&quot;Ada Byron&quot; &lt;you@postroom.internal&gt;<br><b>Sent: </b>Tuesday, 3 March, 2026 09:14:22<br>"
        f'<b>Subject: </b>{html.escape(SUBJECT)}<br></div><br><div data-marker="__QUOTED_TEXT__">{broken()}</div></div></body></html>'
    )
    return both(f"{words}\n\n----- Original Message -----\n{block}\n\n{SENT_TEXT}", page)


def spark(words: str) -> bytes:
    page = (
        f'<html><body><div name="messageBodySection"><div dir="auto">{html.escape(words)}</div></div><div name="messageSignatureSection"><br /><div class="matchFont">Sent via '
        f'<a href="https://sparkmailapp.com/source">Spark</a></div></div><div name="messageReplySection">On 3 Mar 2026 at 09:14 +0100, Assistant &lt;{ADDRESS}&gt;, wrote:<br />'
        f'<blockquote type="cite" class="spark_quote">{broken()}</blockquote></div></body></html>'
    )
    return both(
        f"{words}\n\nSent via Spark (https://sparkmailapp.com)\nOn 3 Mar 2026 at 09:14 +0100, {WHO}, wrote:\n{quote()}\n",
        page,
    )


def superhuman(words: str) -> bytes:
    page = (
        f'<html><body><div><div><div class="">{html.escape(words)}</div><div><br></div><div class="sh-signature"><div>Sent via <a href="https://sprh.mn">Superhuman</a></div></div></div>'
        f'<br><div class="gmail_signature"></div></div><br><div><div class="gmail_quote">On Tue, Mar 03, 2026 at 9:14 AM, Assistant <span dir="ltr">&lt;<a href="mailto:{ADDRESS}">{ADDRESS}</a>&gt;</span> wrote:<br>'
        f'<blockquote class="gmail_quote" style="margin:0 0 0 .8ex">{broken()}</blockquote></div></div></body></html>'
    )
    return both(
        f"{words}\n\nSent via Superhuman ( https://sprh.mn/?vip=ada@example.org )\n\nOn Tue, Mar 03, 2026 at 9:14 AM, Assistant < {ADDRESS} > wrote:\n\n{quote()}\n",
        page,
    )


def hey(words: str) -> bytes:
    page = f'<html><body><div class="trix-content">{rows(words)}</div><br><div class="hey-quoted">On March 3, 2026, Assistant &lt;{ADDRESS}&gt; wrote:<blockquote>{broken()}</blockquote></div></body></html>'
    return both(f"{words}\n\nOn March 3, 2026, {WHO} wrote:\n\n{quote()}\n", page)


def mailspring(words: str) -> bytes:
    page = (
        f'<div>{html.escape(words)}</div><br/><signature id="x1"><div>Sent from <a href="https://getmailspring.com/">Mailspring</a>, the best free email app for work</div></signature>'
        f'<div class="gmail_quote_attribution">On Mar 3 2026, at 9:14 am, Assistant &lt;{ADDRESS}&gt; wrote:</div><blockquote>{broken()}</blockquote>'
    )
    return html_mail(page)


def kmail(words: str, at: str = "Tuesday, 3 March 2026 09:14:22 Central European Standard Time") -> bytes:
    return text_mail(f"On {at} you wrote:\n{quote()}\n\n{words}\n\n\n-- \nAda Byron\n", "User-Agent: KMail/6.3")


def blackberry(words: str) -> bytes:
    return text_mail(
        f"{words}\n\nSent from my BlackBerry 10 smartphone.\n  Original Message  \nFrom: Assistant\nSent: Tuesday, March 3, 2026 09:14\n"
        f"To: Ada Byron\nReply To: {ADDRESS}\nSubject: {SUBJECT}\n\n{SENT_TEXT}"
    )


def samsung_page(words: str) -> bytes:
    return html_mail(
        f'<html><body dir="auto"><div dir="auto">{html.escape(words)}</div><div dir="auto"><br></div><div id="composer_signature" dir="auto"><div style="font-size:12px;color:#575757">Sent from my Galaxy</div></div>'
        f'<div><br></div><div style="font-size:100%;color:#000000"><!-- originalMessage --><div>-------- Original message --------</div><div>From: Assistant &lt;{ADDRESS}&gt; </div><div>Date: 3/3/26  9:14 AM  (GMT+01:00) </div>'
        f"<div>To: Ada Byron &lt;you@postroom.internal&gt; </div><div>Subject: {html.escape(SUBJECT)} </div><div><br></div></div>{broken()}</body></html>"
    )


def notes_page(words: str) -> bytes:
    table = "".join(
        f"<tr valign=top><td width=1%><font size=1 color=#5f5f5f face=sans-serif>{label}</font><td width=96%><font size=1 face=sans-serif>{html.escape(value)}</font>"
        for label, value in (
            ("From:", WHO),
            ("To:", "Ada Byron/Example@EXAMPLE"),
            ("Date:", "03.03.2026 09:14"),
            ("Subject:", SUBJECT),
        )
    )
    return html_mail(
        f"<font size=2 face=sans-serif>{html.escape(words)}</font><br><br><br><br><br><table width=100% style=border-collapse:collapse;>{table}</table><hr noshade><br><br><br><tt><font size=2>{broken()}</font></tt><br><br>"
    )


def the_bat(words: str) -> bytes:
    marked = "\n".join(("A> " + row).rstrip() for row in SENT_TEXT.rstrip("\n").split("\n"))
    return text_mail(
        f"{words}\n\nTuesday, March 3, 2026, 9:14:22 AM, you wrote:\n\n{marked}\n\n\n-- \nBest regards,\n Ada                            mailto:you@postroom.internal\n"
    )


def wrapped_quote(width: int = 66) -> str:
    return "\n".join(
        "> " + piece
        for row in SENT_TEXT.split("\n")
        for piece in (textwrap.wrap(row, width, break_long_words=False) or [""])
    )


def zoho(words: str) -> bytes:
    page = (
        f'<html><head></head><body><div style="font-family: Verdana;font-size: 10pt;">{rows(words)}<br><div class="zmail_extra"><div id="Zm-_Id_-Sgn1">---- On Tue, 03 Mar 2026 09:14:22 +0100 <b>Assistant &lt;{ADDRESS}&gt;</b> wrote ---</div>'
        f'<br><blockquote id="blockquote_zmail">{broken()}</blockquote></div></div></body></html>'
    )
    return both(f"{words}\n\n\n\n\n---- On Tue, 03 Mar 2026 09:14:22 +0100 {WHO} wrote ---\n\n{SENT_TEXT}", page)


def qq(words: str) -> bytes:
    return html_mail(
        f'<div>{html.escape(words)}</div><div><br></div><div style="font-size: 12px;padding:2px 0;">------------------&nbsp;原始邮件&nbsp;------------------</div><div style="font-size: 12px;background:#efefef;padding:8px;">'
        f'<div><b>发件人:</b> "Assistant" &lt;{ADDRESS}&gt;;</div><div><b>发送时间:</b>&nbsp;2026年3月3日(星期二) 上午9:14</div><div><b>收件人:</b>&nbsp;"Ada"&lt;you@postroom.internal&gt;;</div><div><b>主题:</b>&nbsp;{html.escape(SUBJECT)}</div></div>'
        f"<div><br></div>{broken()}"
    )


def netease(words: str) -> bytes:
    return text_mail(
        f'{words}\n\n\n\n\n\n\nAt 2026-03-03 09:14:22, "Assistant" <{ADDRESS}> wrote:\n{quote(mark=">")}\n'
    )


def naver(words: str) -> bytes:
    return html_mail(
        f'<div>{html.escape(words)}</div><p style="font-size:10pt">-----Original Message-----<br><b>From:</b> "Assistant"&lt;{ADDRESS}&gt; <br><b>To:</b> &lt;you@postroom.internal&gt;; <br><b>Cc:</b> <br><b>Sent:</b> 2026-03-03 (화) 09:14:22 (GMT+09:00)<br>'
        f"<b>Subject:</b> {html.escape(SUBJECT)}<br></p><div>{broken()}</div>"
    )


def mail_ru(words: str) -> bytes:
    return both(
        f"\n{words}\n\n \n>Вторник, 3 марта 2026, 9:14 +03:00 от Assistant <{ADDRESS}>:\n> \n{quote(mark='>')}\n",
        f'<HTML><BODY>{html.escape(words)}<br><br><blockquote style="border-left:1px solid #0857A6">Вторник, 3 марта 2026, 9:14 +03:00 от Assistant &lt;{ADDRESS}&gt;:<br>&nbsp;<div>{broken()}</div></blockquote></BODY></HTML>',
    )


def yandex(words: str) -> bytes:
    return html_mail(
        f'<div>{html.escape(words)}</div><div>&nbsp;</div><div>03.03.2026, 09:14, "Assistant" &lt;{ADDRESS}&gt;:</div><blockquote><div>{broken()}</div></blockquote>'
    )


def seznam(words: str) -> bytes:
    return text_mail(
        f'{words}\n\n---------- Původní e-mail ----------\nOd: Assistant <{ADDRESS}>\nKomu: you@postroom.internal\nDatum: 3. 3. 2026 9:14:22\nPředmět: {SUBJECT}\n"{SENT_TEXT.rstrip()}"\n'
    )


def tuta(words: str) -> bytes:
    return html_mail(
        f'<html><body><div dir="auto">{html.escape(words)}</div><div dir="auto"><br></div><div dir="auto">Mar 3, 2026, 09:14 by {ADDRESS}:</div><blockquote class="tutanota_quote" style="border-left: 1px solid #93A3B8;">{broken()}</blockquote></body></html>'
    )


def plain_html(words: str, above: str, open_quote: str = "<blockquote>", close: str = "</blockquote>") -> bytes:
    return html_mail(
        f"<html><body><div>{html.escape(words)}</div><div><br></div><div>{html.escape(above)}</div>{open_quote}{broken()}{close}</body></html>"
    )
