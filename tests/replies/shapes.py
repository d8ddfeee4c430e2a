"""Mails of a megabyte in every shape that a reader could be slow on, and the time that reading them takes.

python -m tests.replies.shapes
"""

import time
from collections.abc import Callable

from bridge.post.reading import read_reply
from tests.replies.clients import ADDRESS, SENT_TEXT, TABLE, both, head, quote, whole

SIZE = 1_000_000


def fill(unit: str, size: int) -> str:
    return unit * (size // len(unit) + 1)


def plain(unit: str, before: str = "", after: str = "") -> Callable[[int], bytes]:
    return lambda size: whole(head("Content-Type: text/plain; charset=utf-8"), before + fill(unit, size) + after)


def flowed(unit: str) -> Callable[[int], bytes]:
    return lambda size: whole(head("Content-Type: text/plain; charset=utf-8; format=flowed"), fill(unit, size))


def page(unit: str, before: str = "", after: str = "") -> Callable[[int], bytes]:
    return lambda size: whole(head("Content-Type: text/html; charset=utf-8"), before + fill(unit, size) + after)


def twice(unit: str) -> Callable[[int], bytes]:
    return lambda size: both(fill(unit, size // 2), f"<pre>{fill(unit, size // 2)}</pre>")


ATTRIBUTION = f"On Tue, 3 Mar 2026 at 09:14, Assistant <{ADDRESS}> wrote:"
SHAPES: dict[str, Callable[[int], bytes]] = {
    "one line": plain("a"),
    "blanks": plain(" "),
    "blanks and a word": plain(" ", "approve", "x"),
    "lines": plain("a\n"),
    "empty lines": plain("\n"),
    "quote marks": plain(">"),
    "spaced quote marks": plain("> "),
    "quoted lines": plain("> a\n"),
    "quoted questions": plain("> a?\n", quote() + "\n"),
    "a long quoted word": plain("a" * 3000 + "?\n> ", quote() + "\n> "),
    "the sent mail": plain(SENT_TEXT),
    "the sent mail quoted": plain(quote() + "\n"),
    "strange quoted lines": plain("> something else stands here\n", quote() + "\n"),
    "attributions": plain(ATTRIBUTION + "\n"),
    "half attributions": plain("On Tue, 3 Mar 2026 at 09:14, Assistant <\n"),
    "colons": plain(":\n"),
    "addresses": plain(ADDRESS + "\n"),
    "labels": plain("From: x\n"),
    "header blocks": plain(f"From: Assistant <{ADDRESS}>\nSubject: x\n\n"),
    "dashes": plain("-"),
    "dash lines": plain("-----\n"),
    "signatures": plain("-- \n"),
    "names": plain("Ada\n", "approve\n"),
    "closings": plain("Thanks\n", "approve\n"),
    "disclaimers": plain("This e-mail is confidential.\n", "approve\n"),
    "product lines": plain("Sent from my iPhone\n", "approve\n"),
    "brackets": plain("<"),
    "open brackets": plain("[("),
    "links": plain("http://a "),
    "mailto": plain("<mailto:a>"),
    "approving": plain("approve "),
    "approvals": plain("approve\n", "reject\n"),
    "reasons": plain("approve,", "reject: "),
    "zero width": plain("\u200b"),
    "combining": plain("a\u0301\u0323"),
    "wide": plain("ｱﾞ"),
    "chinese": plain("同意"),
    "thumbs": plain("👍🏽"),
    "dots": plain(". "),
    "flowed": flowed("a \n"),
    "flowed quotes": flowed("> a \n>> b \n"),
    "armour": plain("-----BEGIN PGP SIGNED MESSAGE-----\n"),
    "tags": page("<b>"),
    "divs": page("<div>"),
    "closed divs": page("<div></div>"),
    "wrong ends": page("<b></i>"),
    "only ends": page("</b>", fill("<i>", 30_000)),
    "open tags": page("<"),
    "open attributes": page("<a b='"),
    "attributes": page(" a=b", "<a", ">"),
    "styles": page("<p style='color:red;display:block'>a"),
    "stylesheet": page(".a,.b{display:none}", "<style>", "</style><p>approve"),
    "words added by a sheet": page(":after", "<style>", "</style><p>approve"),
    "sheets that add words": page(":after{content", "<style>", "</style><p>approve"),
    "open comments": page("<!--"),
    "comments": page("<!---->"),
    "open styles": page("<style>"),
    "entities": page("&amp;"),
    "half entities": page("&amp"),
    "numbers": page("&#1"),
    "breaks": page("<br>"),
    "quotes in html": page("<blockquote>a"),
    "pre": page("a\n", "<pre>"),
    "one word in html": page("a"),
    "cells": page("<td>a"),
    "pictures": page("<img src=cid:x>"),
    "both": twice("approve not\n"),
    "parts": lambda size: whole(head("Content-Type: multipart/mixed; boundary=b"), fill("--b\n\na\n", size)),
    "recipients": lambda size: whole(head("Cc: " + fill("a@b,", size)), "approve"),
    "fields": lambda size: whole(head() + "\r\n" + fill("A: b\r\n", size).rstrip(), "approve"),
    "references": lambda size: whole(head("References: " + fill("<a@b> ", size)), "approve"),
}


def seconds(raw: bytes) -> float:
    """Processor time of one reading."""
    began = time.process_time()
    read_reply(raw, TABLE, "all")
    return time.process_time() - began


def main() -> None:
    """The best of five for each shape, the slowest first, in milliseconds of processor time."""
    best = {name: min(seconds(made(SIZE)) for _ in range(5)) for name, made in SHAPES.items()}
    for name, took in sorted(best.items(), key=lambda entry: -entry[1]):
        print(f"{took * 1000:6.0f} ms  {name}")


if __name__ == "__main__":
    main()
