"""What clients put around a quote: attribution lines, header blocks, separators, elisions.

One rule: our own address, name or subject in it, which we know, counts for more than any language's words for "wrote"
and "From"; a line that only looks like a frame stays the user's text.
"""

import re
from collections.abc import Sequence

from bridge.post.reading.model import Context, Line
from bridge.post.reading.phrases import alarming, is_prose, phrases, plain, said

MAX_ATTRIBUTION_LINES = 5
MAX_ATTRIBUTION = 400
MAX_BLOCK = 14
"""Lines of a header block."""
_LABEL = re.compile(r"[\s*_>|]{0,8}([^\W\d_][^:：\n]{0,34}?)[\s*_]{0,4}[:：][\s*_]{0,40}(?=\S|\Z)")
_SEPARATOR = re.compile(r"\s{0,20}(?:[-_=*~—–─]{3,80}[^\n]{0,120}?[-_=*~—–─]{2,80}|[_=\-—–─]{5,200})\s{0,20}\Z")
_DRAWN = " -_=*~—–─>:"
_MAIL_WORDS = ("message ", "mensaje ", "mensagem ", "messaggio ", "nachricht ")
_ELISION = re.compile(
    r"\s*[\[(<]?\s*(?:\.{2,5}|…|snip\w*|\.\.\.\s*snip.{0,20}|schnipp|gekürzt|cut|coupé|trimmed)\s*[\])>]\s*\Z"
)
_TIME = re.compile(r"\b\d{1,2}\s?[:.hH時点시]\s?\d{2}|\d{1,2}\s?(?:am|pm|uhr|時|点|시)\b")
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\d{1,4}[./\-年년]\s?\d{1,2}[./\-月월]|\b\d{1,2}\.? [^\W\d_]{3,}|[^\W\d_]{3,} \d{1,2}\b"
)
_LINKS = re.compile(r"[<\[(][^<>\[\]()]*[@:][^<>\[\]()]*[>\])]|\S+@\S+")
_ADDRESSES = re.compile(r'"[^"]*"|<[^<>]*>|\S+@\S+')
_DIGIT = re.compile(r"\d")
_STRONG_OPENERS = frozenset("on am le el il em op den dne pada στις vào w".split())
"""What the sentence begins with in its language."""
_OPENS = re.compile(rf"(?<!\S)(?:{'|'.join(sorted(_STRONG_OPENERS))}) (?:[^\W\d_]+[.,]* ){{0,2}}\d")
_COLONS = (":", "：", "﹕", "︓", "：")


def is_separator(text: str) -> bool:
    """A rule of dashes or underscores, with or without words in it, or the words alone; `--` alone is none."""
    return len(text) < 200 and (bool(_SEPARATOR.match(text)) or plain(text) in phrases().original_marks)


def is_elision(text: str) -> bool:
    """`[...]`, `[snip]`: what a person leaves where quoted lines were cut out."""
    return len(text) < 60 and bool(_ELISION.match(text.lower()))


def is_original_mark(separator: str, context: Context) -> bool:
    """What programs write between the dashes of a separator: `Original Message`, in the languages that are known, or
    `Post Desk Agent <...> wrote:`. Anything else there a person wrote."""
    bare = plain(separator).strip(_DRAWN)
    return bare in phrases().original_marks or _names_and_says(_ADDRESSES.sub("", bare.replace('"', "")), context)


def names_us(text: str, context: Context) -> bool:
    """Whether our address or display name is in a (folded) text."""
    return any(address in text for address in context.addresses) or any(name in text for name in context.names)


def is_about_us(text: str, context: Context) -> bool:
    """Whether a line holds our address, display name or subject, as one line of every header block does."""
    folded = plain(text)
    return names_us(folded, context) or _is_our_subject(folded, context)


def header_block(lines: Sequence[Line], at: int, context: Context) -> int:
    """The index behind a block of `Label: value` lines that begins at `at` and is about our mail; `at` when none is."""
    if at and is_separator(lines[at - 1].text) and (end := _bare_block(lines, at, context)) > at:
        return end
    if not _opens_block(lines[at].text, context):
        return at
    end = labels = 0
    ours = subject = False
    for index in range(at, min(at + MAX_BLOCK, len(lines))):
        line = lines[index]
        if line.blank or line.depth != lines[at].depth:
            break
        folded = plain(line.text)
        kind = _block_line(line.text, folded, context)
        if kind is None and not _continues(line.text, lines[index - 1].text, context):
            break
        if kind == "unknown" and (alarming(line.text) or is_prose(line.text)):
            break
        labels += kind is not None
        if kind != "unknown":  # one more is a field of a language we do not know only when fields follow
            end = index + 1
        ours = ours or any(address in folded for address in context.addresses)
        subject = subject or _is_our_subject(folded, context)
        subject = subject or (("<" in folded or "[" in folded) and any(name in folded for name in context.names))
    return end if (ours and labels >= 2) or (subject and labels >= 3) else at


def _bare_block(lines: Sequence[Line], at: int, context: Context) -> int:
    """As `header_block`, for labels without colons (eM Client). As such lines could be a person's own, each value must
    be nothing but addresses, a date, or the subject of our mail; sender and subject must be ours."""
    end, kinds = at, set()
    while end < min(at + 6, len(lines)) and lines[end].depth == lines[at].depth:
        kind = _bare_value(lines[end].text, context)
        if kind is None:
            break
        kinds.add(kind)
        end += 1
    return end if {"ours", "subject"} <= kinds else at


def _bare_value(text: str, context: Context) -> str | None:
    """What a line of a label and a value holds: "ours", "address", "date", "subject"; None: it is no such line."""
    label, _, value = plain(text).partition(" ")
    if label not in phrases().header_labels or len(text) > MAX_ATTRIBUTION:
        return None
    if context.subject and value.removeprefix("re: ") == context.subject.removeprefix("re: "):
        return "subject"
    if "@" in value and not _ADDRESSES.sub("", value).strip(" ,;") and not alarming(value, _own_words(context)):
        return "ours" if any(address in value for address in context.addresses) else "address"
    return "date" if _DIGIT.search(value) and all(map(_tells_when, said(value))) else None


def _opens_block(text: str, context: Context) -> bool:
    """The first line of a header block tells who, when or about what; a condition with a colon does not."""
    return len(text) <= 500 and _block_line(text, plain(text), context) == "known"


def _block_line(text: str, folded: str, context: Context) -> str | None:
    """ "known": a field of a header block by its label, or by our name, address or subject in it; "unknown": it could
    be one; None: it has no label."""
    label = _LABEL.match(text[:200])
    if label is None:
        return None
    if names_us(folded, context) or _is_our_subject(folded, context):
        return "known"
    named = plain(label[1].strip("*_ "))
    return "known" if named in phrases().header_labels else "unknown"


def _continues(text: str, above: str, context: Context) -> bool:
    """A line without a label that a client wrapped: a piece of our subject, of a date, or of a list of addresses."""
    folded = plain(text)
    if folded and folded in context.subject:
        return True
    if alarming(text) or is_prose(text):
        return False
    if above.rstrip().endswith((",", ";", "<", "(")):
        return True
    return (bool(_TIME.search(folded)) or not _LINKS.sub("", folded).strip(" ,;")) and len(folded.split()) <= 5


def is_block_title(text: str) -> bool:
    """`Message du 03/03/26 09:14`, as it stands above a header block: a word for mail, and else when it came."""
    folded = plain(text)
    if len(text) > 100 or not (_DATE.search(folded) and _TIME.search(folded)):
        return False
    return folded.startswith(_MAIL_WORDS) and all(map(_tells_when, said(folded)[1:]))


def _is_our_subject(folded: str, context: Context) -> bool:
    return bool(context.subject) and context.subject in folded


def attribution_ends(lines: Sequence[Line]) -> frozenset[int]:
    """The lines where an attribution could end: with a colon, or with an address in them. Of very many only the first
    and last hundred, because no reply has more."""
    found = [at for at, line in enumerate(lines) if len(line.text) <= MAX_ATTRIBUTION and _could_end(line.text)]
    return frozenset(found if len(found) <= 200 else [*found[:100], *found[-100:]])


def _could_end(text: str) -> bool:
    return "@" in text or text.rstrip("*_ \t\u00a0\u200e\u200f\u202c").endswith(_COLONS)


def attribution(lines: Sequence[Line], last: int, context: Context, *, quote_follows: bool) -> int:
    """The index of the first line of the attribution that ends at `last`; `last + 1` when it is none.

    `On 3 Mar 2026, at 09:14, Post Desk Agent <...> wrote:` in any language, wrapped or not. Of several lengths the
    shortest that is whole; a line above joins only when it is visibly unfinished.
    """
    text, named = "", last + 1
    for first in range(last, max(-1, last - MAX_ATTRIBUTION_LINES), -1):
        if lines[first].blank or lines[first].depth != lines[last].depth:
            break
        if text and not (_unfinished(lines[first].text, context) or not _balanced(text)):
            break
        text = f"{lines[first].text.strip()} {text}".strip()
        if len(text) > MAX_ATTRIBUTION:
            break
        kind = _attributes(text, context)
        if kind == "whole" or (kind == "dated" and quote_follows):
            return first - (first > 0 and _is_our_name(lines[first - 1], lines[last], context))
        if kind == "named" and named > last:
            named = first
    return named if quote_follows else last + 1


def _is_our_name(line: Line, below: Line, context: Context) -> bool:
    """Whether a line is our name alone, as clients leave it that break before the address."""
    return line.depth == below.depth and plain(line.text).strip("\"'* ") in context.names


def _attributes(text: str, context: Context) -> str | None:
    """ "whole": names us, dated; "named": names us only; "dated": only date, time and a verb; None: no attribution."""
    folded = plain(text).strip("*_ >-")
    return _known_attribution(folded, context) or ("dated" if _tells_who_and_when(folded, context) else None)


def _tells_who_and_when(folded: str, context: Context) -> bool:
    """`On Monday Assistant wrote:`, `Tuesday, 9:14 AM, you wrote:`: nothing but words for days and times, our name or
    address, and a verb. Nobody can say anything with these."""
    if not folded.endswith(_COLONS) or not _has_verb(folded) or not _balanced(folded):
        return False
    for known in sorted((*context.addresses, *context.names), key=len, reverse=True):
        folded = folded.replace(known, " ")
    return all(_tells_when(word) or word.startswith(phrases().attribution_verbs) for word in said(folded))


def _tells_when(word: str) -> bool:
    known = phrases()
    if word[0].isdigit() or word in known.weekdays or word in known.months:
        return True
    return word in known.when_words or word in known.attribution_openers


def _known_attribution(folded: str, context: Context) -> str | None:
    if not _balanced(folded):
        return None
    if _words_before(folded, context):
        return None
    dated = bool(_DATE.search(folded)) and bool(_TIME.search(folded) or context.names)
    colon = folded.endswith(_COLONS)
    if alarming(_LINKS.sub(" ", folded), _own_words(context)):
        return None
    addressed = any(address in folded for address in context.addresses)
    if addressed or names_us(folded, context):
        if dated and ((addressed and (colon or _ends_attribution(folded))) or (colon and _has_verb(folded))):
            return "whole"
        return "named" if colon and _balanced(folded) and (addressed or _names_and_says(folded, context)) else None
    opener = folded.split(" ", 1)[0].strip(",.")
    begins = opener in phrases().attribution_openers or opener[:1].isdigit()
    return "dated" if colon and dated and bool(_TIME.search(folded)) and begins and _has_verb(folded) else None


def _words_before(folded: str, context: Context) -> bool:
    """Whether something stands before the attribution on its line: words, and then `On Tue, Mar 3 ...`."""
    ours = [at for known in (*context.addresses, *context.names) if (at := folded.find(known)) >= 0]
    digit = _DIGIT.search(folded)
    lead = folded[: min([*ours, digit.start() if digit else len(folded)])].split()
    openers = phrases().attribution_openers
    late = any(word in _STRONG_OPENERS for word in lead[1:])
    again = _OPENS.search(folded)
    if again and again.start() and folded[: again.start()].strip() and not any(at < again.start() for at in ours):
        return True
    return len(lead) > 6 or (late and not (lead and lead[0].strip(",.") in openers and len(lead) <= 4))


def _ends_attribution(folded: str) -> bool:
    """Without a colon it must end with the address, a verb or a time, so that no words of the user hang on it."""
    *_, before, tail = ["", *folded.split()]
    if tail in ("am", "pm"):
        tail = before
    return folded.endswith((">", ")")) or tail in phrases().attribution_verbs or bool(_TIME.fullmatch(tail))


def _own_words(context: Context) -> tuple[str, ...]:
    return tuple(word for name in context.names for word in name.split())


def _names_and_says(folded: str, context: Context) -> bool:
    """`Post Desk Agent writes:`: our name, a verb, and hardly more."""
    for name in context.names:
        if folded.startswith(name):
            return len(folded[len(name) :].split()) <= 2 and _has_verb(folded[len(name) :])
    return False


def _has_verb(folded: str) -> bool:
    return any(verb in folded for verb in phrases().attribution_verbs)


def _balanced(text: str) -> bool:
    return text.count("<") == text.count(">")


def _unfinished(text: str, context: Context) -> bool:
    """Whether a line asks for the next: it names us, ends in a bracket or comma, or is nothing but a date and time."""
    folded = plain(text)
    if folded.endswith(("<", "(", '"', ",")) or names_us(folded, context):
        return True
    opener = folded.split(" ", 1)[0].strip(",.")
    begins = opener in phrases().attribution_openers or opener[:1].isdigit()
    return begins and bool(_TIME.search(folded)) and bool(_DATE.search(folded))
