"""curl, mbsync, offlineimap, fetchmail and s-nail read mail and write their changes back."""

import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.interop.support import (
    ADDRESS,
    BOUND,
    PASSWORD,
    USER,
    Observer,
    Postroom,
    clean_environment,
    need,
    quoted,
    run,
    token,
)

pytestmark = pytest.mark.interop


def seed(postroom: Postroom, observer: Observer, name: str) -> tuple[str, int]:
    """A mail in the INBOX: the word in its subject and body, and its UID."""
    word = token()
    postroom.send(f"{name} {word}", f"Body {word}\n")
    return word, observer.until("INBOX", word)[0].uid


def test_curl_reads(postroom: Postroom, observer: Observer, tmp_path: Path) -> None:
    need("curl", "curl")
    word, uid = seed(postroom, observer, "Curl")

    def curl(*arguments: str) -> str:
        base = ["curl", "-sS", "--max-time", "20", "--cacert", str(postroom.ca), "-u", f"{USER}:{PASSWORD}"]
        status, output = run([*base, *arguments])
        assert status == 0, output
        return output

    root = f"imaps://localhost:{postroom.imaps}"
    assert '"Archive"' in curl(f"{root}/")
    assert f"Body {word}" in curl(f"{root}/INBOX;UID={uid}")
    assert word in curl(f"{root}/INBOX;UID={uid};SECTION=HEADER.FIELDS%20(SUBJECT)")
    assert "* SEARCH" in curl(f"{root}/INBOX?" + quote(f"SUBJECT {word}"))
    curl(f"{root}/INBOX", "-X", f"UID STORE {uid} +FLAGS (\\Flagged)")
    observer.flags("INBOX", word, "\\Flagged")
    assert "STATUS" in curl(f"{root}/INBOX", "-X", "STATUS INBOX (MESSAGES UNSEEN UIDNEXT)")
    curl(f"{root}/INBOX", "-X", f"UID MOVE {uid} Archive")
    observer.until("Archive", word)
    observer.gone("INBOX", word)
    assert "Archive" in curl("--ssl-reqd", f"imap://localhost:{postroom.imap}/", "--login-options", "AUTH=PLAIN")
    appended = token()
    (tmp_path / "draft").write_bytes(f"Subject: Append {appended}\r\n\r\nx\r\n".encode())
    curl("-T", str(tmp_path / "draft"), f"{root}/Drafts")
    observer.until("Drafts", appended)
    status, _ = run(["curl", "-sS", "--cacert", str(postroom.ca), "-u", f"{USER}:wrong", f"{root}/"])
    assert status == 67


def test_mbsync(postroom: Postroom, observer: Observer, tmp_path: Path) -> None:
    need("mbsync", "isync")
    word, _ = seed(postroom, observer, "Mbsync")
    box = tmp_path / "mail"
    box.mkdir()
    (tmp_path / "rc").write_text(
        f"IMAPStore far\nHost localhost\nPort {postroom.imaps}\nUser {quoted(USER)}\nPass {quoted(PASSWORD)}\n"
        f"SSLType IMAPS\nCertificateFile {postroom.ca}\nSystemCertificates no\nPipelineDepth 50\n\n"
        f"MaildirStore near\nPath {box}/\nInbox {box}/INBOX\nSubFolders Verbatim\n\n"
        "Channel all\nFar :far:\nNear :near:\nPatterns *\nCreate Near\nExpunge Both\nSyncState *\n"
    )

    def sync() -> None:
        status, output = run(["mbsync", "-c", tmp_path / "rc", "-V", "all"], home=tmp_path)
        assert status == 0, output

    sync()
    folders = {str(cur.parent.relative_to(box)) for cur in box.rglob("cur")}
    assert {"INBOX", "Archive", "Sent", "Action", "Agents/Assistant"} <= folders
    (file,) = [file for file in (box / "INBOX").glob("*/*") if word in file.read_text(errors="replace")]
    assert f"Body {word}" in file.read_text()
    base = file.name.partition(":")[0]
    flagged = file.rename(box / "INBOX" / "cur" / f"{base}:2,FS")
    sync()
    observer.flags("INBOX", word, "\\Seen", "\\Flagged")
    flagged.rename(box / "Archive" / "cur" / f"{base.partition(',U=')[0]}:2,FS")
    sync()
    observer.until("Archive", word)
    observer.gone("INBOX", word)
    sync()


def test_offlineimap(postroom: Postroom, observer: Observer, tmp_path: Path) -> None:
    need("offlineimap", "offlineimap3")
    word, _ = seed(postroom, observer, "Offlineimap")
    box = tmp_path / "mail"
    (tmp_path / "rc").write_text(
        f"[general]\naccounts = a\nmetadata = {tmp_path}/meta\nui = basic\n"
        "[Account a]\nlocalrepository = near\nremoterepository = far\n"
        f"[Repository near]\ntype = Maildir\nlocalfolders = {box}\n"
        f"[Repository far]\ntype = IMAP\nremotehost = localhost\nremoteport = {postroom.imaps}\nremoteuser = {USER}\n"
        f"remotepass = {PASSWORD}\nssl = yes\nsslcacertfile = {postroom.ca}\nauth_mechanisms = PLAIN, LOGIN\n"
    )

    def sync() -> None:
        status, output = run(["offlineimap", "-c", tmp_path / "rc", "-o", "-1"], home=tmp_path)
        assert status == 0, output

    sync()
    (file,) = [file for file in (box / "INBOX").glob("*/*") if word in file.read_text(errors="replace")]
    file.rename(box / "INBOX" / "cur" / f"{file.name.partition(':')[0]}:2,FS")
    sync()
    observer.flags("INBOX", word, "\\Seen", "\\Flagged")


def test_fetchmail_with_idle(postroom: Postroom, observer: Observer, tmp_path: Path) -> None:
    need("fetchmail", "fetchmail")
    word, _ = seed(postroom, observer, "Fetchmail")
    pushed = token()
    config = (
        f'poll "localhost" protocol imap port {postroom.imaps} user {quoted(USER)} password {quoted(PASSWORD)} '
        f'ssl sslproto "TLS1.2+" sslcertck sslcertfile "{postroom.ca}" keep mda "cat >> {tmp_path}/mbox"'
    )
    base = ["fetchmail", "-f", str(tmp_path / "rc"), "-v", "--nosyslog", "--pidfile", str(tmp_path / "pid")]
    base += ["-i", str(tmp_path / "ids")]
    (tmp_path / "rc").write_text(f"{config}\n")
    (tmp_path / "rc").chmod(0o600)
    status, output = run(base, home=tmp_path)
    assert status == 0, output
    assert f"Body {word}" in (tmp_path / "mbox").read_text()
    observer.flags("INBOX", word, "\\Seen")
    (tmp_path / "rc").write_text(f"{config} idle\n")
    environment = clean_environment(tmp_path, FETCHMAILHOME=str(tmp_path))
    with subprocess.Popen(
        [*base, "--nodetach"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert any("IDLE" in line for line in process.stdout)
            postroom.send(f"Pushed {pushed}", f"Body {pushed}\n")
            observer.flags("INBOX", pushed, "\\Seen")
            assert f"Body {pushed}" in (tmp_path / "mbox").read_text()
        finally:
            process.terminate()
            process.wait(BOUND)


def test_snail(postroom: Postroom, observer: Observer, tmp_path: Path) -> None:
    need("s-nail", "s-nail")
    word, _ = seed(postroom, observer, "Snail")
    login = f"{quote(USER, safe='')}:{quote(PASSWORD, safe='')}@localhost"
    root = f"imaps://{login}:{postroom.imaps}"
    rc = tmp_path / "mailrc"
    rc.write_text(
        f"set v15-compat=y\nset tls-ca-no-defaults tls-ca-file={postroom.ca} tls-verify=strict\nset from={ADDRESS}\n"
        f"set sendwait nosave\nset mta=smtps://{login}:{postroom.smtps} smtp-auth=login\nset imap-auth=login\n"
        f"set folder={root}\n"
    )
    commands = f"print /{word}\nflag /{word}\ncopy /{word} {root}/Archive\nfolders\nquit\n"
    _, output = run(["s-nail", "-:u", "-#", "-f", f"{root}/INBOX"], text=commands, home=tmp_path, MAILRC=str(rc))
    assert f"Body {word}" in output, output
    observer.flags("INBOX", word, "\\Flagged", "\\Seen")
    observer.until("Archive", word)
    answer = token()
    status, output = run(
        ["s-nail", "-:u", "-s", f"Re: {answer}", ADDRESS], text="answer\n", home=tmp_path, MAILRC=str(rc)
    )
    assert status == 0, output
    observer.until("INBOX", answer)
