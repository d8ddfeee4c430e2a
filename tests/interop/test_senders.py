"""msmtp, swaks and curl send mail, over TLS and over STARTTLS; wrong passwords and no password are refused."""

from pathlib import Path

import pytest

from tests.interop.support import ADDRESS, PASSWORD, USER, Observer, Postroom, need, quoted, run, token

pytestmark = pytest.mark.interop
ROADS = ["tls", "starttls"]


def mail(word: str) -> str:
    return (
        f"From: {ADDRESS}\nTo: {ADDRESS}\nSubject: By hand {word}\nMessage-ID: <{word}@x.test>\n\nBody äö\n.dot line\n"
    )


@pytest.mark.parametrize("road", ROADS)
def test_msmtp(postroom: Postroom, observer: Observer, tmp_path: Path, road: str) -> None:
    need("msmtp", "msmtp")
    port = postroom.smtps if road == "tls" else postroom.smtp
    config = tmp_path / "rc"
    config.write_text(
        f"account default\nhost localhost\nport {port}\ntls on\ntls_starttls {'off' if road == 'tls' else 'on'}\n"
        f"tls_trust_file {postroom.ca}\nauth on\nuser {USER}\npassword {quoted(PASSWORD)}\nfrom {ADDRESS}\n"
    )
    config.chmod(0o600)
    word = token()
    status, output = run(["msmtp", "-C", config, ADDRESS], text=mail(word))
    assert status == 0, output
    source = observer.source("INBOX", word)
    assert source.get_payload() == "Body äö\r\n.dot line\r\n" or ".dot line" in str(source.get_payload())
    status, output = run(["msmtp", "-C", config, "nobody@postroom.internal"], text=mail(token()))
    assert status != 0
    assert "assistant@postroom.internal" in output
    config.write_text(config.read_text().replace(PASSWORD, "wrong"))
    status, output = run(["msmtp", "-C", config, ADDRESS], text=mail(token()))
    assert status != 0
    assert "535" in output


@pytest.mark.parametrize("mechanism", ["PLAIN", "LOGIN"])
@pytest.mark.parametrize("road", ROADS)
def test_swaks(postroom: Postroom, observer: Observer, road: str, mechanism: str) -> None:
    need("swaks", "swaks libnet-ssleay-perl")
    way = ["--tlsc", "-p", str(postroom.smtps)] if road == "tls" else ["--tls", "-p", str(postroom.smtp)]
    base = ["swaks", "--server", "127.0.0.1", *way, "--tls-ca-path", str(postroom.ca), "--tls-verify"]
    base += ["--from", ADDRESS, "--to", ADDRESS]
    word = token()
    login = ["--auth", mechanism, "-au", USER]
    status, output = run([*base, *login, "-ap", PASSWORD, "--header", f"Subject: Swaks {word}"])
    assert status == 0, output
    observer.until("INBOX", word)
    status, output = run([*base, *login, "-ap", "wrong"])
    assert status == 28
    assert "535 5.7.8" in output
    status, output = run(base)
    assert status != 0
    assert "530 5.7.0" in output


@pytest.mark.parametrize("road", ROADS)
def test_curl_sends(postroom: Postroom, observer: Observer, road: str) -> None:
    need("curl", "curl")
    url = f"smtps://localhost:{postroom.smtps}" if road == "tls" else f"smtp://localhost:{postroom.smtp}"
    word = token()
    command = ["curl", "-sS", "--max-time", "20", "--cacert", str(postroom.ca), "--ssl-reqd", url]
    command += ["--mail-from", ADDRESS, "--mail-rcpt", ADDRESS, "-T", "-"]
    text = mail(word).replace("\n", "\r\n")
    status, output = run([*command, "-u", f"{USER}:{PASSWORD}"], text=text)
    assert status == 0, output
    observer.until("INBOX", word)
    status, output = run([*command, "-u", f"{USER}:wrong"], text=text)
    assert status == 67, output
