"""What stands under a text: signature, product lines, disclaimers, closing formula and name.

One rule: a signature is cut only when nothing in it could be meant for us; a condition or an afterthought below the
name stays in the text.
"""

import re
from collections.abc import Sequence

from bridge.post.reading.footers import is_company_line, is_disclaimer, is_errand, opens_disclaimer
from bridge.post.reading.model import Context, Line
from bridge.post.reading.phrases import (
    MAX_LOOKED_AT,
    alarming,
    bears_sign,
    is_closing,
    is_product_line,
    is_prose,
    phrases,
    plain,
    said,
    without_addresses,
    words,
)
from bridge.post.reading.vocabulary import OBJECT, fold, vocabulary

_DASHES = " \t-–—~/*_"
_DELIMITERS = ("--", "—", "- --")
_BLANKS = f" \t\u00a0{OBJECT}"
_RULES = frozenset(" \t-–—_=*~·•|+#/\\")
_SHORTENED = frozenset(
    "ltd. inc. corp. co. llc. plc. e.v. e.k. s.a. s.l. s.r.l. s.p.a. gmbh. jr. sr. dr. mbh. b.v. n.v.".split()
)
_HONOURS = re.compile(
    r"\A\s*(?:(?:i\. ?[av]\.|ppa\.|dr\.|prof\.|dipl\.-ing\.|mag\.|ing\.|ir\.|mr\.?|mrs\.?|ms\.?) ?){1,3}"
    r"|,? (?:mba|ph\.?d\.?|m\.?sc\.?|b\.?sc\.?|m\.?d\.?|m\.?a\.?|cpa)(?=,|\s*\Z)"
    r"|\((?:she|he|they|sie|er|elle|il|ella)(?: ?/ ?[^\W\d_]{2,6}){1,2}\)",
    re.IGNORECASE,
)
"""What stands before and behind a name: i.A., Dr., MBA, (she/her)."""
_BARS = re.compile(r" (?:\||-|–|—|•|·) ")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}:\d\d")
_DIALLED = re.compile(r"\+\d|\(\d{2,5}\)|\b00?[1-9]|\b\d{3}[-. ]\d{3}[-. ]\d{4}\b")
_POSTCODE = re.compile(r"\b\d{4,6}\b|\b\d{3} \d{2}\b|\b\d\d-\d{3}\b|\d{3}-\d{4}")
_LOCAL = re.compile(r"([^\s<>\[\]():;,|]{1,64})@")
_SHARED = frozenset(
    "info office sales contact kontakt mail email hello support service team admin post einkauf vertrieb purchasing"
    " contacto contato contatti achats ventas kundenservice reception empfang hr finance billing accounts".split()
)
"""What a firm's address begins with."""
MAX_SIGNATURE_LINES = 25
MIN_RULE = 5
MAX_TAIL = 80
"""Lines at the end of a text among which a signature and its footers are looked for."""
_CONNECTORS = frozenset(
    "of and the for de der die das di du des del dela da do dos und et y e la le les von van in at a & für".split()
)


def strip_signature(lines: Sequence[Line], context: Context) -> list[Line]:
    """The lines without what stands under them. Nobody signs with more than the last MAX_TAIL."""
    kept = _cut_at_delimiter(list(lines), context)
    above, kept = kept[:-MAX_TAIL], kept[-MAX_TAIL:]
    while True:
        before = len(kept)
        kept = _without_footers(kept, context)
        kept = _without_name_block(kept, context)
        kept = _without_marked(kept, context)
        if len(kept) == before:
            return [*above, *kept]


def is_signature(taken: Sequence[Line], context: Context) -> bool:
    """Whether every line that `strip_signature` took off is one of a signature by itself: what an approval asks for. A
    sentence, a thumb or a single word below the mark may be meant."""
    if len(taken) > 2 * MAX_TAIL:
        return False
    lines = [line for line in _without_footers(list(taken), context) if not line.blank]
    texts = [_bare(line.text) for line in lines]
    contacts = [at for at, text in enumerate(texts) if _is_contact(text, context)]
    last = contacts[-1] if contacts else -1
    opens = [at for at, text in enumerate(texts) if at and texts[at - 1] in _DELIMITERS]
    return all(
        _belongs(text, context)
        or _is_firm(lines[at].text, context)
        or _is_named_row(lines[at].text.strip(_BLANKS), context)
        or (_is_marked(lines[at], context) and not _is_meant(text, context))
        or (at in opens and _could_be_name(text, context))
        or (at < last and _could_be_title(text, context))
        or (at > 0 and _is_lone_post(text, texts[at - 1], context))
        for at, text in enumerate(texts)
    )


def _belongs(text: str, context: Context) -> bool:
    """A line that is part of a signature wherever it stands in one."""
    if not any(char.isalnum() for char in text):
        return all(char in _RULES for char in text)
    if is_sign_off(text, context) or _is_named_row(text, context) or _is_contact(text, context):
        return True
    if is_company_line(text, context.about) or _longer_name(text, context):
        return True
    return not _ends_sentence(text) and _is_title(text, context, gap=True, strict=True)


def _could_be_name(text: str, context: Context) -> bool:
    """The first line below the mark: one to three words with a capital, or a few signs of a script without any."""
    found = text.split()
    if len(found) > 3 or _says_something(text, context) or _ends_sentence(text) or not text[0].isalpha():
        return False
    return all(word[0].isupper() for word in found)


def _could_be_title(text: str, context: Context) -> bool:
    """A line above a telephone number or an address: a post or firm with small words, or in a script without
    capitals."""
    if _says_something(text, context) or _ends_sentence(text) or len(text) > 60:
        return False
    return not text[0].islower() and len(text.split()) <= 8 and not any(mark in text for mark in phrases().not_in_posts)


def _ends_sentence(text: str) -> bool:
    """Whether it ends as a sentence or a heading does; `Example Ltd.` does not."""
    if not text.endswith((".", "!", "。", "…", ":", ";", "؛", "！")):
        return False
    return text.rsplit(None, 1)[-1].lower() not in _SHORTENED


def _is_marked(line: Line, context: Context) -> bool:
    return line.signature or (len(line.text) <= MAX_LOOKED_AT and fold(line.text) in context.known_signature)


def _longer_name(text: str, context: Context) -> bool:
    """`Ada Byron` of a sender who calls herself Ada."""
    found = text.split()
    if len(context.sender) != 1 or not 2 <= len(found) <= 3 or _says_something(text, context):
        return False
    return fold(found[0]) == context.sender[0] and all(word.isalpha() and word[0].isupper() for word in found)


def is_sign_off(line: str, context: Context) -> bool:
    """Whether a line under a decision says nothing: a closing formula, the sender's name, or both."""
    return is_closing(line) or is_name(line, context) or _closing_with_name(line, context) or is_product_line(line)


def is_name(line: str, context: Context) -> bool:
    """The sender's name, whole or in part, or its initials."""
    if len(line) > 80 or not context.sender:
        return False
    text = fold(_HONOURS.sub("", line).strip(_DASHES))
    if text in vocabulary("all").every:  # NO are initials too
        return False
    found = text.replace(".", " ").replace(",", " ").split()
    if not found or len(found) > len(context.sender) + 1:
        return False
    if any(word in context.sender for word in found) and all(_of_name(word, context.sender) for word in found):
        return True
    if text in ("".join(context.sender), " ".join(context.sender)):
        return True
    initials = "".join(word[0] for word in context.sender)
    bare = "".join(found)
    return len(bare) <= 3 and line.strip(_DASHES + ".").isupper() and bare in (initials, initials[:1])


def _of_name(word: str, sender: Sequence[str]) -> bool:
    """A word of the name, or its first letter."""
    return word in sender or any(word == own[:1] for own in sender)


def _closing_with_name(line: str, context: Context) -> bool:
    """`Thanks, Mara` and `Viele Grüße Jonas`."""
    if len(line) > 80:
        return False
    text = fold(line)
    for cut in range(len(text)):
        if (
            text[cut] in " ,-–—"
            and is_name(text[cut:].strip(" ,-–—"), context)
            and is_closing(text[:cut].strip(" ,-–—!."))
        ):
            return True
    return False


def _cut_at_delimiter(lines: list[Line], context: Context) -> list[Line]:
    """At the first `-- ` (RFC 3676, 4.3), also without its blank."""
    for at, line in enumerate(lines):
        if line.text.rstrip() in _DELIMITERS and not line.depth:
            tail = lines[at + 1 :]
            if _harmless(tail, context) or all(before.blank for before in lines[:at]):
                return lines[:at]
            return lines[:at] + tail
    return lines


def _harmless(tail: Sequence[Line], context: Context) -> bool:
    """No line of a signature may be meant, footers apart."""
    if len(tail) > 2 * MAX_TAIL:
        return False
    written = [line for line in _without_footers(list(tail), context) if not line.blank]
    return len(written) <= MAX_SIGNATURE_LINES and not any(_is_meant(line.text, context) for line in written)


def _without_footers(lines: list[Line], context: Context) -> list[Line]:
    """Product lines, rules and disclaimers at the end, as often as they come."""
    while True:
        while lines and (lines[-1].blank or is_product_line(lines[-1].text) or _is_rule(lines[-1].text)):
            lines = lines[:-1]
        start = _disclaimer_start(lines, context)
        if start == len(lines):
            return lines
        lines = lines[:start]


def _is_rule(text: str) -> bool:
    """A drawn line says nothing; fewer marks may be meant."""
    return len(text.strip()) >= MIN_RULE and all(char in " -–—_=*" for char in text)


def _disclaimer_start(lines: list[Line], context: Context) -> int:
    """Where the disclaimer at the end begins: at a line of the last paragraph that opens like one, else the end."""
    start = _last_paragraph(lines)
    for at in range(start, len(lines)):
        opens = opens_disclaimer(lines[at].text) or is_company_line(lines[at].text) or (at == start and start > 0)
        if opens and is_disclaimer(" ".join(line.text for line in lines[at:]), context.about):
            return at
    return len(lines)


def _last_paragraph(lines: list[Line]) -> int:
    at = len(lines)
    while at > 0 and not lines[at - 1].blank and len(lines) - at < 40:
        at -= 1
    return at


def _without_marked(lines: list[Line], context: Context) -> list[Line]:
    """Lines at the end that the HTML part marks as signature."""
    at = len(lines)
    while at > 0 and (lines[at - 1].blank or _is_marked(lines[at - 1], context)):
        at -= 1
    tail = lines[at:]
    return lines[:at] if any(not line.blank for line in tail) and _harmless(tail, context) else lines


def _without_name_block(lines: list[Line], context: Context) -> list[Line]:
    """From the sender's own name on, with the closing formula above it, when all below looks like a signature."""
    for at in range(1, len(lines)):
        text = lines[at].text
        if lines[at].blank or len(lines) - at > MAX_SIGNATURE_LINES:
            continue
        named = is_name(text, context) or _closing_with_name(text, context) or _is_named_row(text, context)
        named = named or (lines[at - 1].blank and _longer_name(text, context))
        below = lines[at + 1 :]
        if below and _is_lone_post(below[0].text, text, context):
            below = below[1:]
        if named and _like_signature(below, context):
            return _without_closing(lines[:at])
    return lines


def _is_lone_post(text: str, above: str, context: Context) -> bool:
    """`Purchasing` just below the sender's whole name."""
    whole = len(context.sender) > 1 and fold(above.strip(_BLANKS)) == " ".join(context.sender)
    post = text.strip(_BLANKS)
    return whole and len(post) > 4 and post[0].isupper() and post.lower() in phrases().title_words


def _is_named_row(text: str, context: Context) -> bool:
    """`Ada Byron | Purchasing | Example Ltd | +46 ...`: a whole signature in one line."""
    name, *pieces = _BARS.split(text)
    if not pieces or not (is_name(name, context) or _closing_with_name(name, context)):
        return False
    strict = not any(_is_contact(piece, context) for piece in pieces)
    return all(
        _is_contact(piece, context) or _is_firm(piece, context) or _is_title(piece, context, True, strict)
        for piece in pieces
    )


def _is_firm(text: str, context: Context) -> bool:
    """A name of a few words with the legal form of a firm."""
    bare = _bare(text)
    few = bare != text.strip(f"{_BLANKS}*_") and len(bare.split()) <= 4 and bare[:1].isupper()
    return few and not _says_something(bare, context)


def _without_closing(lines: list[Line]) -> list[Line]:
    at = len(lines)
    while at > 1 and not lines[at - 1].text.strip(_BLANKS):
        at -= 1
    return lines[: at - 1] if at > 1 and is_closing(lines[at - 1].text) else lines[:at]


def _like_signature(lines: Sequence[Line], context: Context) -> bool:
    """Whether all lines under a name are title, company, telephone, address. Behind a blank line more is asked."""
    texts = [line.text.strip(_BLANKS) for line in lines]
    if not _all_like(texts, context, strict=False):
        return False
    return any(_is_contact(text, context) for text in texts) or _all_like(texts, context, strict=True)


def _all_like(texts: Sequence[str], context: Context, *, strict: bool) -> bool:
    gap = False
    for text in texts:
        gap = gap or not text
        if not text or is_name(text, context) or _is_firm(text, context):
            continue
        if not (_is_contact(_bare(text), context) or _is_title(_bare(text), context, gap, strict)):
            return False
    return True


def _says_something(text: str, context: Context) -> bool:
    sentence = text.endswith((".", "!", "。", "…")) and len(words(text)) >= 4
    return len(text) > 120 or sentence or _is_meant(text, context) or is_prose(text, context.sender)


def _is_meant(text: str, context: Context) -> bool:
    return alarming(text, context.sender) or is_errand(text, context.named)


def _bare(text: str) -> str:
    """A line without blanks at its ends, and a firm's name without its legal form: `Example Sp. z o.o.`"""
    text = text.strip(f"{_BLANKS}*_")
    for form in phrases().legal_forms:
        if text[-len(form) - 1 :].lower() == f" {form}":
            return text[: -len(form) - 1].rstrip(" ,")
    return text


def _is_post(text: str) -> bool:
    """A post or a firm in a script without capitals, known by its last word."""
    named = len(text) <= 20 and text.endswith(phrases().posts)
    return named and not any(mark in text for mark in phrases().not_in_posts)


def _is_contact(text: str, context: Context) -> bool:
    """A telephone number, an address on the net, a line with several fields."""
    marks = any(mark in text for mark in ("@", "://", "www.", "株式会社", "公司"))
    marks = marks or _has_number(text) or (" | " in text and not any(map(str.isdigit, text)))
    return marks and not _says_something(text, context) and not _talks(text) and not _others_address(text, context)


def _has_number(text: str) -> bool:
    """A telephone number, by how it begins or its label, or a postal address with its code. A bare number, a date, a
    sum of money or the number of an order may be meant."""
    if sum(map(str.isdigit, text)) < 6 or _MOMENT.search(text) or any(mark in text for mark in "€$£¥₽%"):
        return False
    if any(word in phrases().reference_words for word in said(plain(text))):
        return False
    return bool(_DIALLED.search(text) or (_POSTCODE.search(text) and any(map(str.isalpha, text)))) or _is_labelled(text)


def _is_labelled(text: str) -> bool:
    found = words(text)
    return any(word.strip(".'") in phrases().contact_labels or (len(word) == 1 and word in "tmfpdoc") for word in found)


def _others_address(text: str, context: Context) -> bool:
    """Whether a mail address is there that is neither the sender's by its name nor a firm's."""
    return any(not _is_own(found.lower(), context) for found in _LOCAL.findall(text))


def _is_own(local: str, context: Context) -> bool:
    if local == context.sender_local:
        return True
    pieces = [piece for piece in re.split(r"[^\w]+|_", local) if piece]
    known = any(piece in context.sender or piece in _SHARED for piece in pieces)
    return known or any(len(word) >= 3 and word in local for word in context.sender)


def _talks(text: str) -> bool:
    """Whether beside numbers and addresses stand words: a sentence, or more than one that begins small."""
    bare = without_addresses(text).split()
    known = phrases().contact_labels | _CONNECTORS | _SHORTENED
    small = [word for word in bare if word[0].islower() and len(word) > 3 and word.strip(".,:;()").lower() not in known]
    ends = [word for word in bare if len(word) > 4 and word[-1] in ".!" and not word.lower().endswith("str.")]
    ends = [word for word in ends if not any(map(str.isdigit, word))]
    ends = [word for word in ends if word.lower() not in known and word.rstrip(".").lower() not in known]
    allowed = 0 if without_addresses(text) != text else 1
    return (
        len(small) > allowed or bool(ends) or bears_sign(text) or any(mark in text for mark in phrases().not_in_posts)
    )


def _is_title(text: str, context: Context, gap: bool, strict: bool) -> bool:
    """`Head of Purchasing`, `Example Group Ltd`: begins with a capital, few words; behind a gap, or where no telephone
    number or address shows that it is a signature, every word does."""
    if not strict and _is_post(text) and not _says_something(text, context):
        return True
    found = [word for word in text.replace(",", " ").split() if word.lower() not in _CONNECTORS]
    if not found or len(found) > 8 or _says_something(text, context):
        return False
    capitals = [word[:1].isupper() or word[:1].isdigit() or not word[:1].isalnum() for word in found]
    if not any(char.isalpha() and char.isupper() for char in text) or (strict and any(map(str.isdigit, text))):
        return False
    signed = len(context.sender) > 1 and fold(text).startswith(" ".join(context.sender))
    titled = ":" not in text and any(word.lower().strip(".") in phrases().title_words for word in found)
    if strict and not signed and not titled:
        return False
    whole = all(capitals) and (len(found) >= 2 or not strict)
    addressed = any(map(str.isdigit, text)) and not gap
    return capitals[0] and (whole or (not strict and (titled or addressed)))
