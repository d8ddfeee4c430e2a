"""Python's mail libraries against `postroom serve`: they send, see it arrive, flag it and move it."""

import asyncio
import email.utils
import imaplib
import smtplib
from email.message import EmailMessage

import aioimaplib
import aiosmtplib
import pytest
from imapclient import IMAPClient

from tests.interop.support import ADDRESS, BOUND, PASSWORD, USER, Observer, Postroom, token


def letter(subject: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = ADDRESS, ADDRESS, subject
    mail["Date"] = email.utils.localtime()
    mail.set_content("Grüße\n.dot line\n")
    return mail


@pytest.mark.parametrize("login", [USER, ADDRESS])
@pytest.mark.parametrize("road", ["starttls", "tls"])
def test_smtplib(postroom: Postroom, observer: Observer, road: str, login: str) -> None:
    word = token()
    if road == "tls":
        smtp: smtplib.SMTP = smtplib.SMTP_SSL("127.0.0.1", postroom.smtps, context=postroom.trust, timeout=BOUND)
    else:
        smtp = smtplib.SMTP("127.0.0.1", postroom.smtp, timeout=BOUND)
        with pytest.raises(smtplib.SMTPNotSupportedError):
            smtp.login(login, PASSWORD)
        smtp.starttls(context=postroom.trust)
    with smtp:
        smtp.login(login, PASSWORD)
        smtp.send_message(letter(f"Smtplib {word}"))
        with pytest.raises(smtplib.SMTPRecipientsRefused) as refused:
            smtp.sendmail(ADDRESS, ["nobody@postroom.internal"], letter("x").as_bytes())
        assert b"assistant@postroom.internal" in refused.value.recipients["nobody@postroom.internal"][1]
    source = observer.source("INBOX", word)
    assert source.get_payload(decode=True).decode() == "Grüße\n.dot line\n".replace("\n", "\r\n")  # type: ignore[union-attr]  # not multipart


def test_smtplib_wrong_password(postroom: Postroom) -> None:
    with smtplib.SMTP_SSL("localhost", postroom.smtps, context=postroom.trust, timeout=BOUND) as smtp:
        with pytest.raises(smtplib.SMTPAuthenticationError) as refused:
            smtp.login(USER, "wrong")
        assert refused.value.smtp_code == 535


async def test_aiosmtplib(postroom: Postroom) -> None:
    word = token()
    await aiosmtplib.send(
        letter(f"Aiosmtplib {word}"),
        hostname="localhost",
        port=postroom.smtps,
        use_tls=True,
        tls_context=postroom.trust,
        username=USER,
        password=PASSWORD,
    )

    def look() -> None:
        observer = Observer(postroom)
        observer.until("INBOX", word)
        observer.close()

    await asyncio.to_thread(look)


def test_imaplib_over_starttls(postroom: Postroom, observer: Observer) -> None:
    word = token()
    postroom.send(f"Imaplib {word}")
    observer.until("INBOX", word)
    with imaplib.IMAP4("127.0.0.1", postroom.imap, timeout=BOUND) as imap:
        assert "LOGINDISABLED" in imap.capabilities
        imap.starttls(postroom.trust)
        imap.login(USER, PASSWORD)
        imap.select("INBOX")
        _, found = imap.uid("SEARCH", "SUBJECT", word)
        uid = found[0].decode()
        imap.uid("STORE", uid, "+FLAGS", "(\\Flagged)")
        assert imap.uid("MOVE", uid, "Archive")[0] == "OK"
    observer.flags("Archive", word, "\\Flagged")
    observer.gone("INBOX", word)


def test_imapclient_hears_of_a_mail_that_was_submitted(postroom: Postroom) -> None:
    word = token()
    with IMAPClient("localhost", postroom.imaps, ssl_context=postroom.trust, timeout=BOUND) as client:
        client.login(USER, PASSWORD)
        assert client.find_special_folder(b"\\Sent") == "Sent"
        client.select_folder("INBOX")
        client.idle()
        postroom.send(f"Pushed {word}")
        news = client.idle_check(timeout=BOUND)
        client.idle_done()
        assert any(line[1] == b"EXISTS" for line in news)
        (uid,) = client.search(["SUBJECT", word])
        row = client.fetch([uid], ["ENVELOPE", "BODYSTRUCTURE", "FLAGS", "INTERNALDATE", "RFC822.SIZE", "BODY.PEEK[]"])[
            uid
        ]
        assert word.encode() in row[b"ENVELOPE"].subject
        assert len(row[b"BODY[]"]) == row[b"RFC822.SIZE"]


async def test_aioimaplib_hears_of_a_mail_that_was_submitted(postroom: Postroom) -> None:
    word = token()
    client = aioimaplib.IMAP4_SSL("localhost", postroom.imaps, ssl_context=postroom.trust, timeout=BOUND)
    await client.wait_hello_from_server()
    assert (await client.login(USER, PASSWORD)).result == "OK"
    await client.select("INBOX")
    idle = await client.idle_start(timeout=BOUND)
    await asyncio.to_thread(postroom.send, f"Pushed {word}")
    assert any(b"EXISTS" in line for line in await client.wait_server_push(timeout=BOUND))
    client.idle_done()
    await asyncio.wait_for(idle, BOUND)
    found = await client.uid_search("SUBJECT", word)
    uid = found.lines[0].split()[-1].decode()
    assert (await client.uid("store", uid, "+FLAGS", "(\\Flagged)")).result == "OK"
    await client.logout()


def test_smtp_sent_01_the_clients_sent_copy_is_the_one_we_filed(postroom: Postroom, observer: Observer) -> None:
    """What every client does after sending: it appends the same message to Sent."""
    word = token()
    mail = letter(f"Sent {word}")
    mail["Message-ID"] = f"<{word}@interop.test>"
    raw = mail.as_bytes().replace(b"\n", b"\r\n")
    with smtplib.SMTP_SSL("localhost", postroom.smtps, context=postroom.trust, timeout=BOUND) as smtp:
        smtp.login(USER, PASSWORD)
        smtp.sendmail(ADDRESS, [ADDRESS], raw)
    kept = observer.until("Sent", word)
    answer = observer.client.append("Sent", raw, flags=(b"\\Seen",))
    assert f" {kept[0].uid}]".encode() in answer  # APPENDUID names the one that was there
    assert [seen.uid for seen in observer.find("Sent", word)] == [kept[0].uid]
