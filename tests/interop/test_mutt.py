"""mutt and neomutt in a terminal: list, read, flag, IDLE, reply with a Sent copy, move, browse."""

from pathlib import Path

import pytest

from tests.interop.support import ADDRESS, PASSWORD, USER, Observer, Postroom, Terminal, need, quoted, token

pytestmark = pytest.mark.interop


def configure(postroom: Postroom, folder: Path, road: str, answer: str) -> Path:
    """A muttrc, and an editor that adds the answer above the quoted text."""
    editor = folder / "editor"
    editor.write_text(f'#!/bin/sh\n{{ cat "$1"; echo; echo "answer {answer}"; }} > "$1.new"; mv "$1.new" "$1"\n')
    editor.chmod(0o700)
    tls = road == "tls"
    imap = f"imaps://localhost:{postroom.imaps}/" if tls else f"imap://localhost:{postroom.imap}/"
    smtp = f"smtps://{USER}@localhost:{postroom.smtps}/" if tls else f"smtp://{USER}@localhost:{postroom.smtp}/"
    config = folder / "muttrc"
    config.write_text(
        f'set imap_user="{USER}"\nset imap_pass={quoted(PASSWORD)}\nset smtp_pass={quoted(PASSWORD)}\n'
        f'set from="{ADDRESS}"\nset realname="Ada"\nset folder="{imap}"\nset smtp_url="{smtp}"\n'
        'set spoolfile="+INBOX"\nset record="+Sent"\nset postponed="+Drafts"\n'
        f'set header_cache="{folder}/cache"\nset certificate_file="{postroom.ca}"\n'
        f'set ssl_ca_certificates_file="{postroom.ca}"\nset ssl_force_tls=yes\nset ssl_starttls=yes\n'
        "set imap_idle=yes\nset imap_keepalive=30\nset mail_check=1\nset timeout=3\nset imap_check_subscribed=yes\n"
        f'set editor="{editor}"\nset fast_reply=yes\nset include=yes\nset edit_headers=no\nset abort_unmodified=no\n'
        "set confirmappend=no\nset confirmcreate=no\nset delete=yes\nset sort=date\nset wait_key=no\nset beep=no\n"
        "set beep_new=no\nset quit=yes\nset move=no\nset copy=yes\n"
    )
    return config


def limit(terminal: Terminal, pattern: str) -> None:
    """Show only the messages of a pattern."""
    terminal.type("l")
    terminal.until("Limit to messages")
    terminal.keys("C-u")
    terminal.type(pattern)
    terminal.keys("Enter")


@pytest.mark.parametrize(("program", "road"), [("mutt", "tls"), ("mutt", "starttls"), ("neomutt", "tls")])
def test_mutt(postroom: Postroom, observer: Observer, tmp_path: Path, program: str, road: str) -> None:
    need(program, program)
    word, answer, pushed = token(), token(), token()
    subject = f"Terminal mail {word}"
    postroom.send(subject, f"Body {word}\n")
    observer.until("INBOX", word)
    config = configure(postroom, tmp_path, road, answer)
    with Terminal(tmp_path, f"{program} -F {config} 2>{tmp_path}/errors") as terminal:
        terminal.until(word)
        limit(terminal, f"~s {word}")
        terminal.keys("Enter")
        terminal.until(f"Body {word}")
        terminal.type("i")
        terminal.type("F")
        terminal.type("$")
        observer.flags("INBOX", word, "\\Flagged", "\\Seen")

        limit(terminal, "all")
        postroom.send(f"Pushed {pushed}")
        terminal.until(pushed)

        limit(terminal, f"~s {word}")
        terminal.type("r")
        terminal.until("y:Send")
        terminal.type("y")
        reply = observer.source("INBOX", f"Re: {subject}")
        assert f"answer {answer}" in str(reply.get_payload())
        assert reply["In-Reply-To"]
        observer.until("Sent", f"Re: {subject}")

        limit(terminal, f"~s 'Terminal mail {word}' !~s Re:")
        terminal.type("s")
        terminal.until("Save to mailbox", "Save message to", "Save to")
        terminal.keys("C-u")
        terminal.type("=Archive")
        terminal.keys("Enter")
        observer.flags("Archive", word, "\\Answered")
        terminal.type("c")
        terminal.until("Open mailbox")
        terminal.type("?")
        terminal.until("Archive")
