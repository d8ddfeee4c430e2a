"""Reads a whole request (letters, results of calls, its own answers) into what the demo model knows now.

Rule: only what stands in the request counts, and a tool's result is only ever kept as text: no address, name or wish
is taken from one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from agents import prompt
from agents.letter import Attachment
from agents.llm import AssistantMessage, ModelRequest, ResultMessage, SentCall, UserMessage
from agents.models.demo import words as w
from agents.models.demo.mailwords import finish, wanted_sentences
from agents.models.demo.material import MIN_MATERIAL
from agents.models.demo.needs import question, recipients
from agents.models.demo.recipients import greeting_names
from agents.models.demo.state import Outcome, Product, State, Task
from agents.models.demo.text import addresses, fold, strip_letter
from agents.models.demo.understand import revise, understand, wants_the_same
from agents.models.demo.wish import Content, Delivery, Make, Revision, Source, Topic, Wish

_OWN_WORK = frozenset({"delegate", "send_mail", "draft_mail", "search_mail"})
"""Tools of an agent with wishes of many kinds; who has none of them and is told of summaries makes only those."""
_HIT = re.compile(r"^- ref (\S+) \| (.*)$", re.MULTILINE)
_CUT = re.compile(r'\n?\[\.\.\. [\d,]+ bytes left out; read_result with ref "([^"]+)" shows them \.\.\.\]\n?')
_MORE = re.compile(r"\n\[\d+ more characters; read on with offset (\d+)\]$")
_FILE_LINE = re.compile(r"^- (.+) \(ref (\S+), (\S+), [\d.]+ [kM]?B\)$", re.MULTILINE)
_SUBJECT = re.compile(r"^Subject: (.*)$", re.MULTILINE)
_DATE = re.compile(r"^Date: (?:\w{3} )?(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})", re.MULTILINE)
_DONE_BEFORE = re.compile(r"\n*\(Done in this task: .*\)\s*$", re.DOTALL)


def read_request(request: ModelRequest) -> Task:
    """The state of the work after everything that stands in a request."""
    task = Task(tools={spec.name: dict(spec.schema) for spec in request.tools}, owner=_owner(request.system))
    task.specialist = "summar" in fold(request.system) and not _OWN_WORK.intersection(task.tools)
    for event in _events(request):
        if isinstance(event, UserMessage):
            _take_letter(task, event)
        elif isinstance(event, AssistantMessage):
            _close(task, event.text)
        else:
            _take_result(task, *event)
    return task


def _close(task: Task, said: str) -> None:
    """An answer ends the work. What it showed is at hand for the next letter, when the calls behind it are not."""
    task.closed = True
    if task.product is None:
        shown = _DONE_BEFORE.sub("", said).strip()
        points = "\n".join(line for line in shown.splitlines() if line.startswith("- "))
        body = points or shown.partition("\n\n")[2]
        task.product = Product("", body.strip()) if body.strip() else None
        task.points = points.count("\n") + 1 if points else 0


def _owner(system: str) -> str:
    found = re.search(r"working for ([^\n]+?) behind a mail server", system)
    name = found.group(1) if found else ""
    return "" if "@" in name or name.startswith("the ") else name


def _events(request: ModelRequest) -> Iterator[UserMessage | AssistantMessage | tuple[SentCall, ResultMessage]]:
    calls: dict[str, SentCall] = {}
    for message in request.messages:
        if isinstance(message, ResultMessage):
            if message.call_id in calls:
                yield calls[message.call_id], message
        elif isinstance(message, AssistantMessage):
            calls.update({call.id: call for call in message.calls})
            if not message.calls and message.text.strip():
                yield message
        else:
            yield message


def _take_letter(task: Task, message: UserMessage) -> None:
    subject = _SUBJECT.search(message.text.partition("\n\n")[0])
    foreign = "\n\n".join(text for source, text in prompt.wrapped_parts(message.text) if source != "quoted text")
    if subject is None and not message.words and not message.attachments and not foreign:
        return  # a remark of the program, not a letter
    task.subject = task.subject or (subject.group(1) if subject else "")
    dated = _DATE.search(message.text)
    if dated:
        task.now = datetime.fromisoformat(f"{dated.group(1)}T{dated.group(2)}")
    if message.attachments:
        task.files = message.attachments
    task.foreign = foreign or task.foreign
    said = message.words if strip_letter(message.words) else _bare_subject(task.subject)
    task.named += [address for _, _, address in addresses(message.words)]
    wish = understand(said, [file.name for file in task.files])
    if wish.topic is Topic.UNKNOWN:
        wish = _unsaid(task, wish, message.words, foreign)
    _continue(task, wish, said, bool(message.attachments or foreign))


def _unsaid(task: Task, wish: Wish, words: str, foreign: str) -> Wish:
    """What a letter wants that says nothing of it: to have read what it brings. A specialist for summaries takes a
    text, or a file with any words, as its work.
    """
    said = strip_letter(words)
    if (foreign or task.files) and (not said or task.specialist):
        return replace(wish, topic=Topic.NONE, make=Make.SUMMARY, source=Source.OWN if foreign else Source.FILES)
    if task.specialist and len(said) >= MIN_MATERIAL:
        first, _, rest = said.partition("\n\n")
        short = len(first) < MIN_MATERIAL <= len(rest)
        count = wanted_sentences(fold(first)) if short else 0
        made = replace(wish, topic=Topic.NONE, make=Make.SUMMARY, source=Source.OWN, sentences=count)
        return replace(made, material=rest.strip() if short else said)
    return wish


def _bare_subject(subject: str) -> str:
    return re.sub(r"^(?:(?:re|aw|fwd?|wg)\s*:\s*)+", "", subject, flags=re.IGNORECASE)


def _continue(task: Task, wish: Wish, said: str, brings: bool) -> None:
    """A first letter starts the work, a later one changes it, goes on with its product, or starts anew."""
    change = revise(said)
    if task.started and brings and wish.make is Make.NOTHING and wants_the_same(said):
        wish = _the_same(task.wish, wish)
    busy = task.started and not task.closed and not brings and not change.empty and not wish.deliveries
    if busy and not change.stop:
        _apply_to_all(task, change, wish)
        return
    if not task.started or brings or wish.topic in (Topic.THANKS, Topic.HELP) or not _follows(wish, change):
        if task.started and wish.topic is Topic.UNKNOWN and not brings:
            task.puzzled, task.closed = said, False
            return
        task.begin(wish)
    elif task.closed and wish.deliveries and wish.make is Make.NOTHING and not _reworks(change):
        task.begin(wish)
    else:
        _apply_to_all(task, change, wish)
    task.started, task.closed = True, False


def _the_same(before: Wish, wish: Wish) -> Wish:
    """What was wanted before, of the files that came now, for the recipients named now or else those of before."""
    deliveries = wish.deliveries or tuple(replace(one, files=()) for one in before.deliveries)
    settled = tuple(replace(one, content=Content.RESULT) if not one.words else one for one in deliveries)
    made = replace(wish, make=before.make, source=Source.FILES, sentences=before.sentences, deliveries=settled)
    return replace(made, topic=Topic.NONE)


def _follows(wish: Wish, change: Revision) -> bool:
    """Whether a letter continues the work: it produces nothing of its own and changes something."""
    own = wish.make is not Make.NOTHING and not (wish.make is Make.SUMMARY and wish.source is Source.BEFORE)
    return not own and not wish.alarms and (not change.empty or bool(wish.deliveries) or wish.make is Make.SUMMARY)


def _reworks(change: Revision) -> bool:
    return change.length != 1.0 or change.sentences > 0


def _apply_to_all(task: Task, change: Revision, wish: Wish) -> None:
    was_closed = task.closed
    if was_closed and _reworks(change) and not wish.deliveries:
        task.wish = replace(task.wish, deliveries=(), alarms=())
        task.outcomes, task.alarms = [], []
    if not was_closed and wish.deliveries and not task.wish.deliveries:
        task.wish = replace(task.wish, deliveries=wish.deliveries)
        task.outcomes = [Outcome() for _ in wish.deliveries]
        return
    for number, outcome in enumerate(task.outcomes):
        if outcome.state in (State.OPEN, State.REJECTED, State.EXPIRED) or was_closed:
            revise_delivery(task, number, change)
    rework(task, change)
    task.given_up = ""


def rework(task: Task, change: Revision) -> None:
    """Make the summary anew in another length."""
    if not _reworks(change):
        return
    usual = task.wish.sentences or task.points or 4
    wanted = change.sentences or max(1, min(20, round(usual * change.length)))
    source = task.wish.source if task.wish.make is Make.SUMMARY else Source.BEFORE
    material = task.wish.material or (task.product.body if source is Source.BEFORE and task.product else "")
    task.wish = replace(task.wish, make=Make.SUMMARY, source=source, material=material, sentences=wanted)
    task.product = None


def revise_delivery(task: Task, number: int, change: Revision) -> None:
    """Change one mail as the user wants it, and open it again."""
    delivery = task.wish.deliveries[number]
    outcome = task.outcomes[number]
    to = tuple(address for address in delivery.to if address not in change.drop)
    if change.to:
        to = _merged(to, change)
    changed = replace(
        delivery,
        to=to,
        people=() if change.to else delivery.people,
        greeting=_greeting(delivery, to, change),
        draft=delivery.draft or change.draft,
        subject=change.subject or delivery.subject,
        words=change.words or delivery.words,
        content=Content.WORDS if change.words else delivery.content,
    )
    task.wish = _with_delivery(task.wish, number, changed)
    task.outcomes[number] = Outcome(
        State.DROPPED if change.stop else State.OPEN, extra=" ".join(filter(None, (outcome.extra, change.extra)))
    )


def _with_delivery(wish: Wish, number: int, changed: Delivery) -> Wish:
    return replace(wish, deliveries=(*wish.deliveries[:number], changed, *wish.deliveries[number + 1 :]))


def _merged(to: Sequence[str], change: Revision) -> tuple[str, ...]:
    """New addresses join the old ones, replace the one of the same person, or replace all."""
    if change.add:
        return tuple(dict.fromkeys((*to, *change.to)))
    starts = {_person(address): address for address in change.to}
    if len(to) > 1 and any(_person(address) in starts for address in to):
        return tuple(dict.fromkeys(starts.get(_person(address), address) for address in to))
    return change.to


def _person(address: str) -> str:
    return re.split(r"[._+-]", fold(address.partition("@")[0]))[0]


def _greeting(delivery: Delivery, to: tuple[str, ...], change: Revision) -> tuple[str, ...]:
    if to == delivery.to:
        return delivery.greeting
    if len(to) == len(delivery.to) == len(delivery.greeting) and not change.add:
        return delivery.greeting if len(to) == 1 and _person(to[0]) == _person(delivery.to[0]) else change.greeting
    return greeting_names(to, [""] * len(to))


def _take_result(task: Task, call: SentCall, result: ResultMessage) -> None:
    text = prompt.unwrap(result.text)
    ref = str(call.args.get("ref", ""))
    if call.name == "read_attachment":
        _take_file(task, ref, text, result.ok)
    elif call.name == "read_result":
        _take_more(task, ref, text, result.ok)
    elif call.name == "delegate":
        _take_summary(task, text, result.ok)
    elif call.name == "search_mail":
        task.hits = _HIT.findall(text) if result.ok else []
        task.found = text
    elif call.name == "read_mail":
        task.mails[ref] = _mail_body(text) if result.ok else ""
    elif call.name == "list_attachments":
        task.listing = text
    elif call.name == "ask_user":
        _take_answer(task, text, result.ok)
    elif call.name in ("send_mail", "draft_mail"):
        _take_delivery(task, call, text, result.ok)
    elif call.name == "remind_me":
        _settle(next((one for one in task.alarms if one.state is State.OPEN), Outcome()), text, result.ok)


def _take_file(task: Task, ref: str, text: str, ok: bool) -> None:
    if not ok:
        task.faults[ref] = text
        return
    cut = _CUT.search(text)
    if cut:
        task.cuts[ref] = (cut.group(1), cut.start())
        text = text[: cut.start()]
    task.texts[ref] = re.sub(r"^\[only the first [^\]\n]*\]\n", "", text)


def _take_more(task: Task, cut: str, text: str, ok: bool) -> None:
    ref = next((ref for ref, (mark, _) in task.cuts.items() if mark == cut), "")
    more = _MORE.search(text)
    if ok and ref:
        task.texts[ref] += text[: more.start()] if more else text
    if ok and ref and more:
        task.cuts[ref] = (cut, int(more.group(1)))
    else:
        task.cuts.pop(ref, None)


def _take_summary(task: Task, text: str, ok: bool) -> None:
    if not ok or not text.strip():
        task.no_delegate = True
        return
    head, _, rest = text.strip().partition("\n")
    body = rest.strip() if head.rstrip().endswith(":") and rest.strip() else text.strip()
    task.product = Product("", body)
    task.points = max(1, sum(line.startswith("- ") for line in body.splitlines()))


def _mail_body(text: str) -> str:
    return text.partition("\n\n")[2] or text


def _take_delivery(task: Task, call: SentCall, text: str, ok: bool) -> None:
    to = tuple(call.args.get("to", ()))
    waiting = [number for number, one in enumerate(task.outcomes) if one.state is State.OPEN]
    same = [number for number in waiting if task.wish.deliveries[number].to == to]
    if not waiting:
        return
    number = (same or waiting)[0]
    outcome = task.outcomes[number]
    changes = prompt.changes_in(text)
    outcome.sent = {**call.args, **changes}
    if "to" in changes:
        changed = replace(task.wish.deliveries[number], to=tuple(changes["to"]), people=())
        task.wish = _with_delivery(task.wish, number, changed)
    if not ok and text.startswith(prompt.ANSWERED):
        _take_feedback(task, number, text.removeprefix(prompt.ANSWERED).strip())
        return
    _settle(outcome, text, ok)
    if ok and call.name == "draft_mail":
        outcome.state = State.DRAFTED


def _take_feedback(task: Task, number: int, said: str) -> None:
    task.named += [address for _, _, address in addresses(said)]
    change = revise(said)
    if change.empty:
        task.outcomes[number].state = State.DROPPED
        task.puzzled = said
        return
    revise_delivery(task, number, change)
    rework(task, change)


def _settle(outcome: Outcome, text: str, ok: bool) -> None:
    if ok:
        outcome.state, outcome.text = State.DONE, text
    elif text.startswith(prompt.REJECTED):
        outcome.state, outcome.text = (
            State.REJECTED,
            text.removeprefix(prompt.REJECTED).removeprefix(" Reason:").strip(),
        )
    elif text.startswith(prompt.EXPIRED):
        outcome.state, outcome.text = State.EXPIRED, text
    else:
        outcome.state, outcome.text = State.FAILED, text


def _take_answer(task: Task, text: str, ok: bool) -> None:
    asked = question(task)
    task.answers.append(text)
    if not ok or w.STOP_IT.search(fold(text)):
        task.given_up = text
        return
    if asked is None:
        return
    files = tuple(Attachment(ref, name, kind, 0) for name, ref, kind in _FILE_LINE.findall(text))
    if asked.about == "address":
        _answer_address(task, text)
    elif asked.about == "words":
        contents = [one.content for one in task.wish.deliveries]
        number = contents.index(Content.UNSAID if Content.UNSAID in contents else Content.RESULT)
        revise_delivery(task, number, Revision(words=finish(strip_letter(text))))
    elif asked.about == "when":
        first = task.wish.alarms[0]
        task.wish = replace(task.wish, alarms=(replace(first, when=text), *task.wish.alarms[1:]))
    elif files:
        task.files = files
    elif len(text) >= MIN_MATERIAL:
        task.wish = replace(task.wish, source=Source.OWN, material=text)
    else:
        task.given_up = text


def _answer_address(task: Task, text: str) -> None:
    to = tuple(address for _, _, address in addresses(text))
    number = next(
        n
        for n, (one, outcome) in enumerate(zip(task.wish.deliveries, task.outcomes, strict=True))
        if outcome.state is State.OPEN and not recipients(task, one) and (one.people or not one.draft)
    )
    task.named += to
    if to:
        revise_delivery(task, number, Revision(to=to, greeting=greeting_names(to, [""] * len(to))))
    else:
        task.outcomes[number] = Outcome(State.FAILED, text)
