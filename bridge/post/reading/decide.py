"""A reply read whole: machine or person, which mail it answers, its new text in both forms, its decision.

One rule: an approval needs every doubt answered; machine mail is found before any text is read.
"""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import replace

from bridge.post.reading.bodies import Bodies, View, collect, has_both, view
from bridge.post.reading.compare import words_of
from bridge.post.reading.grammar import Rules, Verdict, judge, respond
from bridge.post.reading.machine import machine_reason
from bridge.post.reading.model import Context, Languages, NewText, NothingSent, Reading, SentMail, SentMails
from bridge.post.reading.newtext import find_new_text, join_texts
from bridge.post.reading.phrases import MAX_LOOKED_AT, is_forward_subject, phrases, plain
from bridge.post.reading.signature import is_sign_off
from bridge.post.reading.vocabulary import OBJECT, fold, vocabulary
from bridge.post.reading.why import explain_rule
from mailstore.parse import Message, normalise, parse
from mailstore.parse.address import Address

_RECIPIENT_FIELDS = ("delivered-to", "x-original-to")
_HOLDING = ("approve", "edit")
_LOCAL = re.compile(r"[\w.%+-]{1,64}(?=@)")
_NAMED = re.compile(r"[^\W\d_]{3,}")
MAX_NAMED = 100_000


def read_reply(
    raw: bytes,
    sent: SentMails | None = None,
    languages: Languages = None,
    weak_ok: bool = True,
    *,
    own_addresses: Collection[str] = (),
    mail_from: str | None = None,
) -> Reading:
    """What the mail in `raw` says. Takes any bytes and never raises.

    `sent` looks up what was sent; `languages` are the user's ("all": every one, None: English and the unmistakable
    words of all); `weak_ok`: whether yes, ok and the like count here, which they do in a direct reply while no later
    mail of the agent exists; `own_addresses` and `mail_from` as in `machine_reason`.
    """
    raw = normalise(raw)
    return read_message(
        parse(raw), raw, sent, languages, weak_ok, own_addresses=own_addresses, mail_from=mail_from
    )  # packed, to be seen at a glance  # fmt: skip


def read_message(
    message: Message,
    raw: bytes,
    sent: SentMails | None = None,
    languages: Languages = None,
    weak_ok: bool = True,
    *,
    own_addresses: Collection[str] = (),
    mail_from: str | None = None,
) -> Reading:
    """As `read_reply`, for a message that is already parsed (`raw` normalised)."""
    if reason := machine_reason(message, raw, own_addresses=own_addresses, mail_from=mail_from):
        rule = f"machine:{reason}"
        return Reading("", "none", True, rule, explain_rule(rule))
    token, mail, conflict = _bind(message, sent or NothingSent())
    context = _context(message, mail)
    rules = Rules(vocabulary(languages), weak_ok, mail, lambda line: is_sign_off(line, context))
    bodies = collect(message.root, raw)
    text, verdict = _read_views(bodies, raw, context, rules)
    verdict = _with_doubts(message, bodies, text, verdict, conflict)
    return _reading(text, verdict, token, mail, bodies)


def _reading(text: NewText, verdict: Verdict, token: str | None, mail: SentMail | None, bodies: Bodies) -> Reading:
    return Reading(
        new_text=text.text.replace(OBJECT, "").strip("\n"),
        decision=verdict.decision,
        auto=False,
        rule=verdict.rule,
        why=explain_rule(verdict.rule),
        near_miss=verdict.near_miss,
        items=verdict.items,
        grant=verdict.grant,
        reason=verdict.reason,
        edits=verdict.edits,
        token=token,
        sent=mail,
        line=verdict.line,
        word=verdict.word,
        quoted=text.quoted,
        files=tuple(bodies.files),
    )


def _read_views(bodies: Bodies, raw: bytes, context: Context, rules: Rules) -> tuple[NewText, Verdict]:
    """Both forms of the text, judged apart and compared."""
    html = view(bodies, raw, prefer_html=True)
    context = replace(
        context,
        known_signature=frozenset(
            fold(line.text)
            for text in html.texts
            for line in text
            if line.signature and not line.blank and len(line.text) <= MAX_LOOKED_AT
        ),
    )
    html_text, html_verdict = _judge_view(html, context, rules)
    html_verdict = _picture_doubt(bodies, html, html_verdict)
    if not has_both(bodies):
        return html_text, html_verdict
    plain = view(bodies, raw, prefer_html=False)
    plain_text, plain_verdict = _judge_view(plain, context, rules)
    if not html.any_text and not html.cids and not html_text.text:
        return plain_text, plain_verdict
    return _agreed(plain_text, plain_verdict, html_text, html_verdict)


def _judge_view(seen: View, context: Context, rules: Rules) -> tuple[NewText, Verdict]:
    text = join_texts([find_new_text(lines, context, too_long=seen.too_long) for lines in seen.texts])
    verdict = judge(text, rules)
    if not seen.readable:
        return text, respond("", "undecodable", verdict.line)
    if seen.struck and verdict.decision in _HOLDING:
        return text, respond("", "struck-out", verdict.line)
    if seen.veiled and verdict.decision in _HOLDING:
        return text, respond("", "hidden-text", verdict.line)
    return text, verdict


def _picture_doubt(bodies: Bodies, html: View, verdict: Verdict) -> Verdict:
    """A picture that the text does not show hangs there as a file."""
    bodies.files += [name for cid, name in bodies.pictures if cid not in html.cids]
    return verdict


def _agreed(plain: NewText, plain_verdict: Verdict, html: NewText, html_verdict: Verdict) -> tuple[NewText, Verdict]:
    same = plain_verdict.decision == html_verdict.decision
    if same and (plain_verdict.decision not in _HOLDING or _key(plain.text) == _key(html.text)):
        return plain, plain_verdict
    text = plain if plain.text else html
    if {plain_verdict.decision, html_verdict.decision} <= {"respond", "none"}:
        return text, plain_verdict if plain.text else html_verdict
    return text, respond("", "parts-disagree", plain_verdict.line or html_verdict.line)


def _key(text: str) -> tuple[list[str], list[str]]:
    """What two forms of a text must share: words and symbols, not punctuation or line breaks."""
    return words_of(text), [char for char in text if unicodedata.category(char) == "So"]


def _with_doubts(message: Message, bodies: Bodies, text: NewText, verdict: Verdict, conflict: bool) -> Verdict:
    """What else keeps a decision from counting."""
    by_subject = is_forward_subject(message.subject) and not message.in_reply_to and not message.references
    if bodies.forwarded or text.forwarded or by_subject:
        return respond("forward", None, verdict.line)
    if bodies.sealed:
        return respond("", "undecodable", verdict.line)
    if bodies.crowded and verdict.decision in _HOLDING:
        return respond("", "too-long", verdict.line)
    if verdict.decision in ("approve", "reject", "edit") and conflict:
        return respond("", "conflict", verdict.line)
    if verdict.decision == "approve" and bodies.files:
        return respond("", "attachment", verdict.line)
    return verdict


def _bind(message: Message, sent: SentMails) -> tuple[str | None, SentMail | None, bool]:
    """(token, the mail it answers, whether token and In-Reply-To name different requests)."""
    token: str | None = None
    by_token: SentMail | None = None
    for spec in _recipients(message):
        candidate = spec.partition("@")[0].partition("+")[2]
        found = sent.by_token(candidate) if candidate else None
        if found is not None:
            if by_token is not None and found.token != by_token.token:
                return token, by_token, True
            token, by_token = candidate, found
    by_id = next((mail for mail in map(sent.by_message_id, message.in_reply_to[:10]) if mail is not None), None)
    conflict = by_token is not None and by_id is not None and by_id.token is not None and by_id.token != by_token.token
    mail = by_id if by_id is not None and not conflict else by_token
    if mail is None:
        later = map(sent.by_message_id, reversed(message.references[-50:]))
        mail = next((found for found in later if found is not None), None)
    return token or (mail.token if mail else None), mail, conflict


def _recipients(message: Message) -> list[str]:
    envelope = message.envelope
    listed = [a.spec for a in (*envelope.to, *envelope.cc, *envelope.bcc)[:200] if a.mailbox and a.host]
    listed += [value.strip() for name in _RECIPIENT_FIELDS for value in message.headers.all(name)[:5]]
    return [spec.lower() for spec in listed]


def _context(message: Message, mail: SentMail | None) -> Context:
    recipients = [a for a in (*message.envelope.to, *message.envelope.cc)[:50] if a.mailbox and a.host]
    ours = [a for a in recipients if mail is None or not mail.address or _is_ours(a, mail)]
    addresses = {a.spec.lower() for a in ours}
    names = {fold(a.display) for a in ours}
    if mail is not None:
        addresses.update(address.lower() for address in (mail.address, *mail.senders))
        names |= {fold(name) for name in mail.names}
    sender = fold(message.envelope.from_[0].display) if message.envelope.from_ else ""
    local = (message.envelope.from_[0].mailbox or b"").decode("latin-1").lower() if message.envelope.from_ else ""
    name = _name_words(sender, local)
    named = _named(mail, name) if mail is not None else frozenset()
    return Context(
        sent=mail,
        addresses=frozenset(address for address in addresses if "@" in address),
        subject=plain(mail.subject) if mail is not None else "",
        names=frozenset(name for name in names if len(name) >= 3 and "@" not in name),
        sender=name,
        sender_local=local,
        named=named,
        about=named | _topics(mail) if mail is not None else named,
    )


def _topics(mail: SentMail) -> frozenset[str]:
    """The words of what a request shows, which stands behind bars."""
    known = phrases()
    rows = [row[2:] for row in mail.text[:MAX_NAMED].splitlines() if row.startswith("| ")]
    found = {word for row in rows for word in words_of(row) if len(word) > 4 and word.isalpha()}
    legal = (*known.disclaimer_marks, *known.disclaimer_openers, *known.footer_words, *known.company_marks)
    joined, short = "\n".join(legal), [mark for mark in legal if mark.isalpha()]  # only these can be in a word
    return frozenset(
        word for word in found - known.footer_common if word not in joined and not any(mark in word for mark in short)
    )


def _named(mail: SentMail, sender: Collection[str]) -> frozenset[str]:
    """The words of the names before the @ in a mail, without those of the mail's own addresses and of who answers."""
    own = {piece for address in (mail.address, *mail.senders) for piece in _NAMED.findall(address.partition("@")[0])}
    found = {word for local in _LOCAL.findall(mail.text[:MAX_NAMED]) for word in _NAMED.findall(fold(local))}
    return frozenset(found - own - set(sender))


def _is_ours(address: Address, mail: SentMail) -> bool:
    """The address of the mail, also when a client lost its plus part."""
    local, _, host = mail.address.lower().partition("@")
    spec = address.spec.lower()
    return spec.partition("@")[2] == host and spec.partition("@")[0].partition("+")[0] == local.partition("+")[0]


def _name_words(display: str, local: str) -> tuple[str, ...]:
    """The words by which a person signs: of the display name, else of the address."""
    found = display.replace(",", " ").replace(".", " ").split() if display and "@" not in display else []
    return tuple(found or [piece for piece in local.replace("_", ".").replace("-", ".").split(".") if len(piece) > 1])
