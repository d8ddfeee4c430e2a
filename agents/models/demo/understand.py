"""Reads a user's own words as a wish, or as a change to an earlier one, by rules over English and German words.

Rule: every wish comes from what is written; what cannot be read becomes Topic.UNKNOWN, and what is missing stays
missing, to be asked for.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agents.models.demo import words as w
from agents.models.demo.files import meant_files
from agents.models.demo.mailwords import finish, mail_query, take_subject, take_words, wanted_sentences
from agents.models.demo.material import MAX_INSTRUCTION, split_material
from agents.models.demo.recipients import Group, dropped, greeting_names, groups, people
from agents.models.demo.text import clauses, fold, is_german, paragraphs, quotations, quoted, sentences, strip_letter
from agents.models.demo.wish import Alarm, Content, Delivery, Make, Revision, Source, Topic, Wish

MAX_SHORT = 200
_ALARM_SPLIT = re.compile(
    r"[,;]?\s*\b(?:and|und|then|dann)\s+(?:then\s+|also\s+|please\s+|bitte\s+)?(?=(?:remind\s+(?:me|us)|erinner\w*\s+mich)\b)",
    re.IGNORECASE,
)
_ADD_TEXT = re.compile(
    r"^(?:please\s+|bitte\s+)?(?:also\s+|auch\s+)?(?:add|mention|include|append|say|write|ergänze|erwähne|schreib(?:e)?)\s+"
    r"(?:the\s+(?:sentence|line|note)\s+|den\s+satz\s+|noch\s+|auch\s+)*(?:that\s+|dass\s+|,\s*dass\s+)?:?\s*(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_FILE_LIST = re.compile(
    r"\b(?:list|show|enumerate|display|name|which|what|how\s+many|liste?|zeige?|nenne?|welche|wie\s+viele)\b(?:\s+me|\s+mir)?"
    r"(?:\s+(?:the|all|my|of|are|is|these|those|names?|die|alle|der|sind|meine))*\s+"
    r"(?:\w+\s+){0,2}(?:attachments?|attached|files?|documents?|enclosed|anh[aä]ng\w*|angehängt\w*|dateien)\b"
    r"|\bwhat\s+(?:did\s+i|have\s+i|is|'s)\s+(?:attach\w*|sent?)\b"
)
_SENDS_IT = re.compile(
    r"\b(?:send|forward|mail|e-?mail|pass|share)\s+(?:it|that|this|them)\b"
    r"|\b(?:leite?|sende?|schicke?|maile?)\s+(?:sie|es|ihn|das|diese)\b"
)
_TELL = re.compile(r"\b(?:tell\s+(?:me|us)|find\s+out|look\s+up|sag\w*\s+mir)\s+(.{3,80})")
_ADD_ONE = re.compile(
    r"^(?:please\s+|bitte\s+)?(?:also\s+|auch\s+)?(?:add|mention|include|append|ergänze|erwähne)\s+(?:also\s+|auch\s+|noch\s+|bitte\s+)*"
    r"(?:the\s+(?:sentence|line|note)\s*:?\s*|den\s+satz\s*:?\s*|that\s+|,?\s*dass\s+|:\s*)(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_ATTACH_TOO = re.compile(
    r"\battach\s+(?:the|it|them|this|that|all|both)|\b(?:along|together)\s+with\s+the\s+(?:files?|originals?|attach)"
    r"|\bincluding\s+the\s+(?:files?|originals?|attach)|\b(?:mit|samt)\s+(?:dem\s+|den\s+)?(?:anhang|anhängen|datei)"
    r"|\b(?:files?|attachments?|notes|documents?|report|minutes|pdf|originals?)\s+and\s+(?:its|their|the|a)\s+summary"
)
_IS_SUMMARY = re.compile(
    r"\b(?:this|here|attached|it|das|hier)\s+(?:is|ist)\s+(?:the|my|a|our|die|meine)\s+(?:summary|zusammenfassung)\b"
)
_FOCUS = re.compile(
    r"\b(?:say|says|said|points?|facts?|know|steht|sagt|learn|mention\w*)\s+(?:there\s+)?(?:about|on|regarding|über|zu|zum|zur)\s+"
    r"([^,.;?!@]+?)(?=\s+(?:to|for|and|an|für|und)\s|[,.;?!]|$)|\babove\s+all\s+about\s+([^,.;?!@]+)|\bvor\s+allem\s+zu\s+([^,.;?!@]+)",
    re.IGNORECASE,
)
_SAME = re.compile(r"\bthe\s+same\b|\blikewise\b|\bdas\s+(?:gleiche|selbe)\b|\bdasselbe\b|\bgenauso\b|\bebenso\b")
_PRONOUNS = frozenset({"him", "her", "them", "ihm", "ihn", "ihr", "ihnen", "sie"})
_ITSELF = re.compile(
    r"\b(?:file|original|attachment|document|pdf|datei|anhang|dokument)\s+(?:itself|as\s+it\s+is|selbst)\b"
)
_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|on\s+the\s+subject\s+of|über|wegen|zum\s+thema)\s+(.+?)[.!?]*$", re.IGNORECASE
)


@dataclass(slots=True)
class Notes:
    """What has been read so far of one letter."""

    names: tuple[str, ...] = ()
    make: set[Make] = field(default_factory=set)
    focus: str = ""
    mail: bool = False
    own: bool = False
    files: bool = False
    query: str = ""
    deliveries: list[Delivery] = field(default_factory=list)
    alarms: list[Alarm] = field(default_factory=list)
    loose: list[tuple[str, str]] = field(default_factory=list)
    no_send: bool = False
    forwarded: bool = False
    draft: bool = False


def understand(said: str, names: Sequence[str] = ()) -> Wish:
    """The wish in a letter's words. `names` are the files that came along (so that they can be meant by name)."""
    body = strip_letter(said)
    german, folded = is_german(said), fold(body[:MAX_SHORT])
    if not folded or (len(body) < MAX_SHORT and w.THANKS.fullmatch(folded)):
        return Wish(topic=Topic.THANKS if folded else Topic.UNKNOWN, german=german, words=body)
    if w.HELP_ALONE.fullmatch(folded):
        return Wish(topic=Topic.HELP, german=german, words=body)
    instruction, material = split_material(body, bool(names))
    notes = Notes(names=tuple(names))
    for paragraph in paragraphs(instruction):
        for sentence in sentences(paragraph):
            _read_sentence(sentence, notes, material)
    return _assemble(notes, Wish(german=german, words=instruction, material=material), instruction, names)


def _read_sentence(sentence: str, notes: Notes, material: str) -> None:
    added = _ADD_ONE.match(sentence) if notes.deliveries else None
    if added:
        last = notes.deliveries[-1]
        notes.deliveries[-1] = replace(last, extra=f"{last.extra} {finish(quoted(sentence) or added.group(1))}".strip())
        return
    pieces = _ALARM_SPLIT.split(sentence)
    for piece in pieces:
        reminds = w.REMIND.search(fold(piece))
        if reminds:
            notes.alarms.append(_alarm(piece))
            continue
        subject = dictated = ""
        if not (w.SEARCH.search(fold(piece)) and w.MAIL_NOUN.search(fold(piece))):
            piece, subject = take_subject(piece)
            if len(list(quotations(piece))) > 1 and len(cut := clauses(piece)) > 1:
                for clause in cut:  # each with words of its own
                    _read_clause(*take_words(clause), notes, material)
                continue
            piece, dictated = take_words(piece)
        for clause in clauses(piece):
            _read_clause(clause, dictated, notes, material)
        if subject and notes.deliveries:
            notes.deliveries[-1] = replace(notes.deliveries[-1], subject=subject)


def _alarm(piece: str) -> Alarm:
    return Alarm(text=piece, when=piece)


def _read_clause(clause: str, dictated: str, notes: Notes, material: str) -> None:
    folded = fold(clause)
    notes.no_send = notes.no_send or bool(w.NOT_SEND.search(folded))
    found = groups(clause)
    tells = w.ADDRESS_IS.search(clause.lower()) if found else None
    if tells:
        notes.loose += [(address, name) for group in found for address, name in zip(group.to, group.names, strict=True)]
        before = clause[: tells.start()].rstrip(" ,;:")
        if before and not groups(before):  # "send it to Tom, his address is ...": the first part still is a wish
            _read_clause(before, dictated, notes, material)
        return
    searches = _read_produce(clause, folded, notes)
    if found and not searches and (w.SEND.search(folded) or w.DRAFT.search(folded)):
        notes.deliveries += [_delivery(group, clause, dictated, notes.names) for group in found]
    elif found and searches and w.SEND_VERB.search(folded):
        notes.deliveries += [_delivery(group, clause, dictated, notes.names) for group in found if _is_target(group)]
    elif not found and not searches:
        _read_without_address(clause, folded, notes, dictated)
    notes.forwarded = notes.forwarded or bool(w.FORWARD.search(folded))


def _read_produce(clause: str, folded: str, notes: Notes) -> bool:
    """Note what is to be produced; True when the clause asks for something in the mailbox."""
    mailbox = _is_mailbox(clause, folded)
    notes.own = notes.own or bool(w.SELF_TEXT.search(folded))
    notes.files = notes.files or bool(w.ATTACHED.search(folded) or w.FILE_NOUN.search(folded))
    if w.SUMMARISE.search(folded) and not _IS_SUMMARY.search(folded):
        notes.make.add(Make.SUMMARY)
        notes.focus = notes.focus or _focus(clause)
    if w.WAITING.search(folded) and (w.LIST.search(folded) or w.MAIL_NOUN.search(folded)) and not mailbox:
        notes.make.add(Make.WAITING)
    elif mailbox:
        notes.mail = True
        notes.query = notes.query or mail_query(clause)
        notes.make.add(Make.TEXT if w.READ.search(folded) or w.FORWARD.search(folded) else Make.HITS)
    elif (
        w.ATTACHED.search(folded) and w.LIST.search(folded) and Make.SUMMARY not in notes.make and _lists_files(folded)
    ):
        notes.make.add(Make.ATTACHMENTS)
    elif (notes.names or w.ATTACHED.search(folded)) and not notes.deliveries and (asked := _TELL.search(folded)):
        notes.make.add(Make.SUMMARY)
        notes.focus = notes.focus or asked.group(1)
    elif w.READ.search(folded) and (w.ATTACHED.search(folded) or w.FILE_NOUN.search(folded)):
        notes.make.add(Make.TEXT)
    return mailbox


def _focus(clause: str) -> str:
    """What the summary should tell above all ("... what it says about the rent")."""
    found = _FOCUS.search(clause)
    return next((group.strip() for group in found.groups() if group), "") if found else ""


def wants_the_same(said: str) -> bool:
    """Whether the letter asks for the same as before, for another file."""
    return bool(_SAME.search(fold(said)))


def _lists_files(folded: str) -> bool:
    """ "Which files are attached?", but not "tell me what the attached lease says"."""
    return bool(_FILE_LIST.search(folded))


_MAILBOX = re.compile(
    r"\b(?:my|the|all|any|what|which|how\s+many|welche|wie\s+viele|last|latest|newest|unread|new|meine[nmr]?|letzte[nr]?|neueste[nr]?|ungelesene[nr]?|alle|mein)\s+(?:\w+\s+){0,2}"
    r"(?:e-?mails?|mails?|messages?|inbox|mailbox|nachrichten?|posteingang|postfach)\b"
    r"|\b(?:e-?mails?|mails?|messages?|nachrichten?)\s+(?:i\s+\w+|from|about|regarding|of|von|über|wegen|zu)\b"
    r"|\bin\s+(?:my|the|meine[mr]?)\s+(?:inbox|mail|mailbox|posteingang|postfach)\b"
)
_SOMEONE_WROTE = re.compile(
    r"\bwhat\s+(?:did|does|has|have)\s+(?!i\b|you\b|we\b|the\b|this\b)\S+\s+(?:\S+\s+)?(?:write|say|send|want|written|said)\b"
    r"|\bwas\s+(?:hat|schrieb|schreibt|sagt|will)\s+(?!ich\b|du\b|das\b)\S+(?:.*\b(?:geschrieben|gesagt|geschickt))?"
)
_FROM_SOMEONE = re.compile(r"\b(?:anything|something|heard|news|word|etwas|was)\s+(?:new\s+)?(?:from|von)\b")


def _is_mailbox(clause: str, folded: str) -> bool:
    """Whether the clause speaks of mail that lies in the mailbox, and not of a mail to be written."""
    if w.DRAFT.search(folded) or re.search(
        r"\bthis\s+(?:e-?mail|mail|message)\b|\bdiese\s+(?:mail|nachricht)\b", folded
    ):
        return False
    if _FROM_SOMEONE.search(folded) or _SOMEONE_WROTE.search(folded):
        return True
    speaks = bool(_MAILBOX.search(folded))
    asks = w.SEARCH.search(folded) or w.LIST.search(folded) or w.SUMMARISE.search(folded) or w.READ.search(folded)
    if speaks and (asks or w.FORWARD.search(folded)):
        return True
    looks = re.match(r"(?:please\s+|can\s+you\s+|bitte\s+)*(?:search|find|look\s+for|suche?|finde)\b", folded)
    return bool(looks) and not w.SUMMARISE.search(folded) and not w.ATTACHED.search(folded)


def _read_without_address(clause: str, folded: str, notes: Notes, dictated: str) -> None:
    if w.DRAFT.search(folded):
        notes.deliveries.append(_bare(people(clause), clause, dictated, draft=True))
        return
    if not w.SEND_VERB.search(folded) or w.NOT_SEND.search(folded):
        return
    who = people(clause)
    if who or dictated or re.search(r"\b(?:send|forward|schicke?|sende|leite|verschicke?|mail|e-?mail)\b", folded):
        if not who and w.TO_SELF.search(folded):
            return
        notes.deliveries.append(_bare(who, clause, dictated, draft=False))


def _bare(who: Sequence[str], clause: str, dictated: str, draft: bool) -> Delivery:
    content = _content(fold(clause), dictated)
    names = tuple(name for name in who if name[0].isupper())
    return Delivery(
        (),
        tuple(who),
        names if len(names) == len(who) else (),
        draft,
        content,
        "",
        dictated or _topic_words(clause, content),
    )


def _is_target(group: Group) -> bool:
    return fold(group.before).split()[-1:] in (["to"], ["an"])


def _delivery(group: Group, clause: str, dictated: str, names: Sequence[str]) -> Delivery:
    folded = fold(clause)
    before = fold(group.before) if w.SEND.search(fold(group.before)) or _ITSELF.search(fold(group.before)) else folded
    content = _content(before, dictated)
    draft = bool(w.DRAFT.search(folded) or w.NOT_SEND.search(folded))
    greeting = greeting_names(group.to, group.names)
    files = meant_files(group.before, names)
    return Delivery(group.to, (), greeting, draft, content, "", dictated or _topic_words(clause, content), files)


def _topic_words(clause: str, content: Content) -> str:
    """ "about X" of a mail to be written, kept with a mark that it is a topic and not yet a text."""
    found = _ABOUT.search(clause)
    return f"about {found.group(1).strip()}" if found and content is Content.UNSAID else ""


def _content(folded: str, dictated: str) -> Content:
    if dictated and not (w.FORWARD.search(folded) and w.ATTACHED.search(folded)):
        return Content.WORDS
    if w.SUMMARISE.search(folded):
        return Content.RESULT
    if _ITSELF.search(folded):
        return Content.FILES
    if w.FORWARD.search(folded) and not re.search(r"\bforward\s+(?:it|them|that)\b", folded):
        return Content.FILES
    return (
        Content.RESULT
        if re.search(r"\b(?:result|list|hits|findings|answer|liste|ergebnis\w*)\b", folded)
        else Content.UNSAID
    )


def _assemble(notes: Notes, wish: Wish, instruction: str, names: Sequence[str]) -> Wish:
    deliveries = _complete(notes)
    make = _main(notes.make)
    if make is Make.HITS and notes.deliveries and _SENDS_IT.search(fold(instruction)):
        make = Make.TEXT
    files = meant_files(instruction, names)
    wish = replace(
        wish,
        make=make,
        files=files,
        query=notes.query,
        focus=notes.focus,
        sentences=wanted_sentences(fold(instruction)) if make is Make.SUMMARY else 0,
        deliveries=tuple(deliveries),
        alarms=tuple(notes.alarms),
    )
    wish = replace(wish, source=_source(notes, wish, names))
    if make is Make.NOTHING and not deliveries and not notes.alarms:
        topic = Topic.HELP if w.HELP.search(fold(instruction)) else Topic.UNKNOWN
        return replace(wish, topic=topic)
    return replace(wish, deliveries=tuple(_settle(delivery, wish, notes) for delivery in wish.deliveries))


def _main(made: set[Make]) -> Make:
    for make in (Make.SUMMARY, Make.TEXT, Make.WAITING, Make.HITS, Make.ATTACHMENTS):
        if make in made:
            return make
    return Make.NOTHING


def _source(notes: Notes, wish: Wish, names: Sequence[str]) -> Source:
    if notes.mail:
        return Source.MAIL
    if wish.material and not (names and notes.files and not notes.own):
        return Source.OWN
    if names or notes.files:
        return Source.FILES
    return Source.OWN if notes.own else Source.BEFORE


def _complete(notes: Notes) -> list[Delivery]:
    """Deliveries with addresses that another sentence gave, drafts where sending was ruled out."""
    out: list[Delivery] = []
    loose = list(notes.loose)
    for delivery in notes.deliveries:
        if not delivery.to and loose:
            to = tuple(address for address, _ in loose)
            names = [name or (delivery.people[0] if len(loose) == 1 and delivery.people else "") for _, name in loose]
            delivery = replace(delivery, to=to, people=(), greeting=greeting_names(to, names))
            loose = []
        if notes.no_send:
            delivery = replace(delivery, draft=True)
        out.append(delivery)
    if loose and not out and Make.SUMMARY in notes.make:
        to = tuple(address for address, _ in loose)
        out.append(Delivery(to, (), greeting_names(to, [name for _, name in loose]), notes.no_send, Content.RESULT))
    return _merged(out)


def _merged(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """A nameless "send it" beside a full delivery is the same mail; so is "draft a mail" before "to ann@... saying"."""
    full = [delivery for delivery in deliveries if delivery.to]
    bare = [
        one for one in deliveries if not one.to and (not full or (one.people and not _PRONOUNS.issuperset(one.people)))
    ]
    out = [*full, *bare]
    vague = [delivery for delivery in deliveries if delivery not in out]
    for delivery in vague:
        first = out[0]
        out[0] = replace(
            first,
            draft=first.draft or delivery.draft,
            words=first.words or delivery.words,
            content=first.content if first.content is not Content.UNSAID else delivery.content,
        )
    return out


def _settle(delivery: Delivery, wish: Wish, notes: Notes) -> Delivery:
    """What a mail holds when its own clause did not say: what was produced, the files, or the letter's own text."""
    if delivery.content is Content.RESULT and wish.make is Make.NOTHING:
        return replace(delivery, content=Content.RESULT)
    if delivery.content is Content.FILES and wish.source is Source.MAIL:
        return replace(delivery, content=Content.RESULT)
    if delivery.content is not Content.UNSAID:
        return delivery
    if wish.make is not Make.NOTHING:
        return replace(delivery, content=Content.RESULT, words="")
    if wish.material:
        return replace(delivery, content=Content.WORDS, words=wish.material)
    if delivery.words:
        return delivery
    return replace(delivery, content=Content.FILES) if notes.forwarded else delivery


def attaches_files(said: str) -> bool:
    """Whether the user wants the files to go along with what was produced."""
    return bool(_ATTACH_TOO.search(fold(said)))


def revise(said: str) -> Revision:
    """The change that words ask for which answer a proposal or a result; an empty Revision when none is understood."""
    body, subject = take_subject(strip_letter(said)[:MAX_INSTRUCTION])
    folded = fold(body)
    found = groups(body)
    to = tuple(address for group in found for address in group.to)
    names = [name for group in found for name in group.names]
    add = bool(w.ADD_TOO.search(folded)) and not re.search(r"\binstead\b|\bstatt", folded)
    number = (
        wanted_sentences(folded)
        if re.search(r"\d|\b(?:one|two|three|four|five|six|ein\w*|zwei|drei|vier|fünf)\b", folded)
        else 0
    )
    length = 0.5 if w.SHORTER.search(folded) else 2.0 if w.LONGER.search(folded) else 1.0
    extra = "" if to or number or length != 1.0 or subject else _extra(body)
    _, dictated = ("", "") if extra else take_words(body)
    return Revision(
        to=to,
        add=add and bool(to),
        drop=dropped(body),
        greeting=greeting_names(to, names) if to else (),
        length=1.0 if number else length,
        sentences=number,
        subject=subject,
        words=dictated,
        extra=extra,
        draft=bool(w.DRAFT.search(folded)),
        stop=bool(w.STOP_IT.search(folded)) and not to and not w.DRAFT.search(folded),
    )


def _extra(body: str) -> str:
    found = _ADD_TEXT.match(body.strip())
    if not found or w.ATTACHED.search(fold(found.group(1))):
        return ""
    return finish(quoted(found.group(1)) or found.group(1))
