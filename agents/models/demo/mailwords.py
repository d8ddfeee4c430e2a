"""Finds the parts of a wish that are given literally: a mail's subject, its text, what to search for, how long.

Rule: what is found is taken out of the sentence, so that words of a mail to be written are never read as
instructions.
"""

import re

from agents.models.demo import words as w
from agents.models.demo.text import addresses, fold, quoted

_WHO = (
    r"(?:\S+@\S+|[^\W\d_][\w'-]*(?:\s+[^\W\d_][\w'-]*)?)(?:(?:\s*,\s*|\s+(?:and|und|&)\s+)(?:\S+@\S+|[^\W\d_][\w'-]*))*"
)
_SAYING = re.compile(
    r"\b(?:saying|which\s+says|that\s+says|stating|to\s+say|and\s+(?:say|tell\s+(?:him|her|them))"
    r"|(?:with|using|and)\s+(?:the\s+)?(?:following\s+)?(?:text|words|message|body|content)"
    r"|mit\s+(?:dem|folgendem)\s+(?:text|inhalt)|und\s+(?:sag|schreib)e?\s+(?:ihm|ihr|ihnen))\b(?:\s+that\b|,?\s+dass\b)?\s*[:,]?\s*(.{2,})$",
    re.IGNORECASE | re.DOTALL,
)
_THAT = re.compile(
    rf"\b(?:tell|inform|let|notify|remind|write(?:\s+to)?|reply(?:\s+to)?|answer|e-?mail|mail|message|send)\s+(?!me\b|us\b){_WHO}"
    r"(?:\s+(?:know|an?\s+(?:e-?mail|mail|message|note)))?\s*,?\s+that\s+(.{2,})$",
    re.IGNORECASE | re.DOTALL,
)
_ASK = re.compile(
    rf"\bask\s+(?!me\b|us\b){_WHO}\s+(whether|if|to|for|about|when|where|what|how|why)\s+(.{{2,}})$",
    re.IGNORECASE | re.DOTALL,
)
_THANK = re.compile(rf"\bthank\s+{_WHO}\s+for\s+(.{{2,}})$", re.IGNORECASE | re.DOTALL)
_INVITE = re.compile(rf"\binvite\s+{_WHO}\s+to\s+(.{{2,}})$", re.IGNORECASE | re.DOTALL)
_DASS = re.compile(
    r"\b(?:schreib|sag|informier|teil|mail|send|schick)\w*\b.*?,?\s+da(?:ss|ß)\s+(.{2,})$", re.IGNORECASE | re.DOTALL
)
_FRAG = re.compile(
    rf"\bfrag(?:e|en)?\s+(?!mich\b){_WHO}\s*,?\s+(ob|wann|wo|was|wie|warum)\s+(.{{2,}})$", re.IGNORECASE | re.DOTALL
)
_SUBJECT = re.compile(
    r",?\s*(?:\b(?:and|use|with|under|und|mit|unter)\s+)?(?:\b(?:the|a|as|dem|den|der|als)\s+)*\b(?:subject(?:\s+line)?|betreff|titled|title)"
    r"\s*(?:should\s+be|shall\s+be|is|to|ist|soll\s+\S+\s+sein|lautet|:|=)?\s*[\"“„«]([^\"“”„«»]+)[\"”“»]",
    re.IGNORECASE,
)
_SUBJECT_PLAIN = re.compile(
    r",?\s*(?:(?:\b(?:and|use|und)\s+)?(?:\b(?:with|under|mit|unter)\s+)(?:the\s+|a\s+|dem\s+|der\s+)?(?:subject(?:\s+line)?|betreff)\s*:?"
    r"|(?:\b(?:and|the|der|und)\s+)*\b(?:subject(?:\s+line)?|betreff)\s*(?:should\s+be|shall\s+be|is|to|ist|lautet|:|=))\s+"
    r"([^\n,;\"]+?)(?=\s+(?:and|und)\s+\w+\s|[.,;]?\s*$|[.,;]\s)",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\b(?=(\d{1,2}|[a-zäöüß]+)\s+(?:\w+\s+)?(?:sentences?|points?|bullets?|lines?|satz|sätzen?|punkte?n?|zeilen?)\b)"
)


def take_subject(sentence: str) -> tuple[str, str]:
    """The sentence without its 'with the subject ...' part, and that subject."""
    found = _SUBJECT.search(sentence) or _SUBJECT_PLAIN.search(sentence)
    if not found:
        return sentence, ""
    return (sentence[: found.start()] + " " + sentence[found.end() :]).strip(), found.group(1).strip(" '\"")


def take_words(sentence: str) -> tuple[str, str]:
    """The sentence without the text it dictates for a mail, and that text as full sentences; ("...", "") when none."""
    for pattern, form in (
        (_SAYING, "{0}"), (_ASK, ""), (_FRAG, "Ich möchte fragen, {0} {1}"), (_THANK, "Thank you for {0}"),
        (_INVITE, "I would like to invite you to {0}"), (_THAT, "{0}"), (_DASS, "Ich möchte mitteilen, dass {0}"),
    ):  # packed, to be seen at a glance  # fmt: skip
        found = pattern.search(sentence)
        if found and not w.SUMMARISE.search(" ".join(fold(found.group(found.lastindex or 1)).split()[:3])):
            groups = [group.strip() for group in found.groups()]
            if w.REQUEST.match(fold(sentence)):  # "Could you tell Tom that ...?" is no question to Tom
                groups[-1] = groups[-1].rstrip("? ")
            said = _question(*groups) if pattern is _ASK else form.format(*groups)
            return sentence[: found.start(1)].strip(" :,"), finish(said)
    if w.SEND_VERB.search(fold(sentence)) and quoted(sentence):
        said = quoted(sentence)
        return sentence.replace(said, ""), finish(said)
    return sentence, ""


def _question(how: str, what: str) -> str:
    what = _to_you(what.rstrip(" .?!"))
    if fold(how) == "to":
        return f"Could you please {what}?"
    if fold(how) == "for":
        return f"Could you please send me {what}?"
    return f"I would like to ask {'whether' if fold(how) == 'if' else fold(how)} {what}."


_YOU = (
    (re.compile(r"\b(?:he|she|they)\s+(?:is|are)\b", re.IGNORECASE), "you are"),
    (re.compile(r"\b(?:he|she|they)\s+(?:has|have)\b", re.IGNORECASE), "you have"),
    (re.compile(r"\b(?:he|she|they)\s+(?:was|were)\b", re.IGNORECASE), "you were"),
    (re.compile(r"\b(?:his|their|her(?=\s+(?!(?:and|or|at|on|in|to|by|for|with)\b)\w))\b", re.IGNORECASE), "your"),
    (re.compile(r"\b(?:him|them|her)\b", re.IGNORECASE), "you"),
)  # packed, to be seen at a glance  # fmt: skip
_THEY = re.compile(
    r"\b(?:he|she)\s+(?!can\b|could\b|will\b|would\b|may\b|might\b|must\b|shall\b|should\b|\w*(?:ed|ss)\b)([a-z]{3,}?)s\b"
)
_OTHERS = re.compile(r"\b(?:he|she|they)\b", re.IGNORECASE)


def _to_you(what: str) -> str:
    """A question about somebody as it is put to them: "Tuesday suits her" becomes "Tuesday suits you". One that
    names somebody else is left alone, for "she" may be them.
    """
    if any(fold(name) not in w.NO_NAMES for name in re.findall(r"\b[A-ZÄÖÜ][\w'-]+", what)):
        return what
    for pattern, said in _YOU:
        what = pattern.sub(said, what)
    return _OTHERS.sub("you", _THEY.sub(lambda found: f"you {_plural(found.group(1))}", what))


def _plural(verb: str) -> str:
    return (
        verb.removesuffix("e")
        if verb.endswith(("she", "che", "sse"))
        else verb.removesuffix("ie") + "y"
        if verb.endswith("ie")
        else verb
    )


def finish(said: str) -> str:
    """Dictated words as a sentence: a capital at the start, a full stop at the end, no quotes around."""
    said = said.strip().strip("\"“”„'").strip()
    if not said:
        return ""
    said = said[0].upper() + said[1:]
    return said if said[-1] in ".!?…" else said + "."


def wanted_sentences(folded: str) -> int:
    """How many sentences are asked for; 0 when nothing is said about it."""
    for found in _COUNT.finditer(folded):
        word = found.group(1)
        number = int(word) if word.isdigit() else w.NUMBERS.get(word, 3 if word in ("few", "couple", "wenigen") else 0)
        if 0 < number <= 30:
            return number
    if w.SHORTER.search(folded):
        return 2
    return 8 if w.LONGER.search(folded) else 0


def mail_query(clause: str) -> str:
    """A search in the form the tool search_mail takes, from a clause such as "the last mail from Ann about the
    fair".
    """
    parts: list[str] = []
    rest = clause
    for start, end, address in reversed(list(addresses(clause))):
        toward = fold(clause[:start]).split()[-1:] in (["to"], ["an"])
        if not (toward and w.SEND_VERB.search(fold(clause))):
            parts.insert(0, f"{'to' if toward else 'from'}:{address}")
        rest = rest[:start] + rest[end:]
    for found in re.finditer(
        r"\b(?:[Ff]rom|[Bb]y|[Vv]on|did|does|has|[Ww]as\s+(?:hat|schrieb|schreibt|sagt|will))\s+((?:[A-ZÄÖÜ][\w'-]+)(?:\s+[A-ZÄÖÜ][\w'-]+)?)",
        rest,
    ):
        parts.append(f'from:"{found.group(1)}"' if " " in found.group(1) else f"from:{found.group(1)}")
        rest = rest.replace(found.group(1), "", 1)
    for found in re.finditer(r"\b(?:from|by|von)\s+(?:the\s+|my\s+|der\s+|dem\s+)?([a-zäöüß][\w'-]{2,})", rest):
        if found.group(1) not in w.QUERY_NOISE and found.group(1) not in w.NO_NAMES:
            parts.append(f"from:{found.group(1)}")
            rest = rest.replace(found.group(1), "", 1)
    if w.UNREAD.search(fold(rest)) and w.MAIL_NOUN.search(fold(rest)):
        parts.append("is:unread")
    phrase = quoted(rest)
    if phrase:
        parts.append(f'"{phrase}"')
        rest = rest.replace(phrase, "")
    words = re.findall(r"[\w][\w.'/-]*", rest)
    parts += [
        word.strip(".'") for word in words if fold(word).strip(".'") not in w.QUERY_NOISE and len(word.strip(".'")) > 1
    ]
    return " ".join(parts)
