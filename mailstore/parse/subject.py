"""The base subject (RFC 5256, 2.1): what is left when reply and forward marks are taken off.

One rule: only the first 2,000 characters are looked at, because the RFC's rules are loops.
"""

import re

MAX_LOOKED_AT = 2000
_REFWD = re.compile(  # the colon too is that of Chinese programs (U+FF1A) as well
    r"(?:re|fwd?|aw|wg|sv|vs|tr|rv|antw|odp|ynt|回复|答复|转发)\s*(?:\[[^\[\]]*\]\s*)?[:\uff1a]\s*", re.IGNORECASE
)
_MARK = re.compile(r"[:\uff1a\[]|\)\Z")  # without one of these there is nothing to take off
_BLOB = re.compile(r"\[[^\[\]]*\]\s*")
_FWD = re.compile(r"\[fwd:(.*)\]\Z", re.IGNORECASE | re.DOTALL)


def base_subject(subject: str) -> str:
    """`subject` without its marks; besides RFC 5256's own (re, fw, fwd) the common translated ones are taken off."""
    text = " ".join(subject[:MAX_LOOKED_AT].split())
    while _MARK.search(text):
        before = text
        text = _without_leaders(_without_trailer(text))
        wrapped = _FWD.match(text)
        text = wrapped[1].strip() if wrapped else text
        if text == before:
            break
    return text


def is_reply(subject: str) -> bool:
    """Whether the subject says that it answers or passes on another message (RFC 5256, section 3, step 5.B)."""
    text = " ".join(subject[:MAX_LOOKED_AT].split())
    at = 0
    while blob := _BLOB.match(text, at):
        if _FWD.match(text, at):
            return True
        at = blob.end()
    return _REFWD.match(text, at) is not None or text.lower().endswith("(fwd)")


def _without_trailer(text: str) -> str:
    while text.lower().endswith("(fwd)"):
        text = text[:-5].rstrip()
    return text


def _without_leaders(text: str) -> str:
    at = 0
    while True:
        after = at
        while blob := _BLOB.match(text, after):
            after = blob.end()
        if mark := _REFWD.match(text, after):
            at = mark.end()
            continue
        blob = _BLOB.match(text, at)
        if blob is None or blob.end() >= len(text):
            return text[at:]
        if _FWD.match(text, at):
            return text[at:]
        at = blob.end()
