"""Decides the demo model's next move: which tools to call, a question, or the last word.

Rule: one step at a time and always forward: read, produce, remind, deliver, report. What a tool has answered is never
asked of it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.models.demo import say
from agents.models.demo.needs import chosen, material, question, recipients
from agents.models.demo.state import Outcome, Product, State, Task
from agents.models.demo.summarise import DEFAULT_SENTENCES, summarise
from agents.models.demo.text import fold
from agents.models.demo.times import read_due
from agents.models.demo.wish import Content, Delivery, Make, Source, Topic

MAX_QUESTIONS = 4
MAX_MAILS = 5
MAX_MORE = 8

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Move:
    """Either calls, or the text of the last answer."""

    text: str = ""
    calls: tuple[Call, ...] = ()


def next_move(task: Task) -> Move:
    """What to do now."""
    if task.puzzled:
        return Move(say.puzzled(task))
    if task.wish.topic is not Topic.NONE:
        return Move(say.topic(task))
    asked = question(task)
    if asked is not None:
        if task.offers("ask_user") and len(task.answers) < MAX_QUESTIONS:
            return Move(calls=(("ask_user", {"question": asked.text}),))
        return Move(asked.text)
    if task.given_up:
        return Move(say.given_up(task))
    for step in (_read, _produce, _remind, _deliver):
        calls = step(task)
        if calls:
            return Move(calls=tuple(calls))
    return Move(say.report(task))


def _read(task: Task) -> Sequence[Call]:
    """Read what the wish is about, all of it at once."""
    wish = task.wish
    if wish.make is Make.ATTACHMENTS and task.listing is None and task.offers("list_attachments"):
        return [("list_attachments", {})]
    if wish.make is Make.WAITING and task.hits is None and task.offers("search_mail"):
        return [("search_mail", {"query": "is:open", "limit": 20})]
    if wish.make in (Make.SUMMARY, Make.TEXT) and wish.source is Source.FILES and task.product is None:
        return _read_files(task)
    return _read_mailbox(task) if wish.source is Source.MAIL and task.product is None else []


def _read_files(task: Task) -> Sequence[Call]:
    if not task.offers("read_attachment"):
        return []
    unread = [file for file in chosen(task) if file.ref not in task.texts and file.ref not in task.faults]
    if unread:
        return [("read_attachment", {"ref": file.ref}) for file in unread]
    if not task.offers("read_result") or _skill(task):
        return []
    return [
        ("read_result", {"ref": mark, "offset": offset})
        for ref, (mark, offset) in task.cuts.items()
        if len(task.texts[ref]) < MAX_MORE * 32_000
    ][:1]


def _read_mailbox(task: Task) -> Sequence[Call]:
    if task.hits is None:
        return [("search_mail", {"query": task.wish.query, "limit": 10})] if task.offers("search_mail") else []
    if task.wish.make is Make.HITS or not task.offers("read_mail"):
        return []
    many = "is:unread" in task.wish.query or any(
        word in fold(task.wish.words) for word in ("mails", "messages", "nachrichten")
    )
    others = [
        hit for hit in task.hits if " | Sent | " not in hit[1]
    ] or task.hits  # mail that came, not what asked for it
    wanted = [ref for ref, _ in others[: MAX_MAILS if many else 1]]
    return [("read_mail", {"ref": ref}) for ref in wanted if ref not in task.mails]


def _skill(task: Task) -> str:
    """The specialist for summaries among those that can be given a task; empty when there is none."""
    schema: Any = task.tools.get("delegate", {})
    names = schema.get("properties", {}).get("skill", {}).get("enum", ())
    return next((name for name in names if "summar" in name), "")


def _produce(task: Task) -> Sequence[Call]:
    if task.wish.make is not Make.SUMMARY:
        if task.product is None:
            task.product = _found(task)
        return []
    texts = sources(task)
    if task.product is None and texts:
        skill = _skill(task)
        if skill and not task.no_delegate:
            return [("delegate", _order(task, skill))]
        task.product = Product("", _summary(task, texts))
    return []


def sources(task: Task) -> list[tuple[str, str]]:
    """Title and text of everything that is to be summarised."""
    if task.wish.source is Source.FILES and task.files:
        return [(file.name, task.texts[file.ref]) for file in chosen(task) if file.ref in task.texts]
    if task.wish.source is Source.MAIL:
        titles = dict(task.hits or ())
        return [(say.hit_title(titles.get(ref, ref)), text) for ref, text in task.mails.items() if text]
    text = material(task)
    return [("", text)] if text else []


def _order(task: Task, skill: str) -> dict[str, Any]:
    """The task for the specialist: what to do in its own words, the material by reference or as data."""
    wanted = task.wish.sentences or DEFAULT_SENTENCES
    files = [file for file in chosen(task) if file.ref in task.texts] if task.wish.source is Source.FILES else []
    if files:
        return {
            "skill": skill,
            "task": say.order(task, len(files), wanted),
            "attachments": [file.ref for file in files],
        }
    parts = [f"{title}\n\n{text}" if title else text for title, text in sources(task)]
    return {"skill": skill, "task": say.order(task, 0, wanted), "material": "\n\n".join(parts)[:200_000]}


def _summary(task: Task, texts: Sequence[tuple[str, str]]) -> str:
    """The summary made here: points for one text, headed points for several."""
    wanted = task.wish.sentences or DEFAULT_SENTENCES
    parts = []
    for title, text in texts:
        points = "\n".join(f"- {line}" for line in summarise(text, wanted, title, task.wish.focus))
        parts.append(f"**{title}**\n\n{points}" if title and len(texts) > 1 else points)
    return "\n\n".join(parts)


def _found(task: Task) -> Product | None:
    """What was looked for, when it is text to show as it is."""
    wish = task.wish
    if wish.make is Make.TEXT:
        texts = sources(task)
        return Product("", "\n\n".join(text for _, text in texts)) if texts else None
    if wish.make in (Make.HITS, Make.WAITING) and task.hits:
        return Product("", "\n".join(f"- {say.hit_line(line)}" for _, line in task.hits))
    if wish.make is Make.ATTACHMENTS and task.files:
        return Product("", "\n".join(say.file_line(file) for file in task.files))
    return None


def _remind(task: Task) -> Sequence[Call]:
    if not task.offers("remind_me") or task.now is None:
        return []
    calls: list[Call] = []
    for alarm, outcome in zip(task.wish.alarms, task.alarms, strict=True):
        due = read_due(alarm.when, task.now)
        if outcome.state is State.OPEN and due is not None:
            what = (read_due(alarm.text, task.now) or due).what
            args = {"text": what or say.reminder(task), "at": f"{due.at:%Y-%m-%dT%H:%M}"}
            calls.append(("remind_me", {**args, "every": due.every} if due.every else args))
    return calls


def _deliver(task: Task) -> Sequence[Call]:
    calls: list[Call] = []
    for delivery, outcome in zip(task.wish.deliveries, task.outcomes, strict=True):
        if outcome.state is State.OPEN:
            call = _delivery(task, delivery, outcome)
            if call is not None:
                calls.append(call)
    return calls


def _delivery(task: Task, delivery: Delivery, outcome: Outcome) -> Call | None:
    """The call for one mail; without a way to send, the mail becomes a draft, and the report says so."""
    if delivery.content is Content.RESULT and task.product is None and not material(task):
        outcome.state, outcome.text = State.FAILED, say.nothing_to_send(task)
        return None
    tool = "draft_mail" if delivery.draft or not task.offers("send_mail") else "send_mail"
    if not task.offers(tool):
        outcome.state, outcome.text = State.FAILED, say.no_way_to_send(task)
        return None
    args: dict[str, Any] = {"to": list(recipients(task, delivery)), "subject": say.subject(task, delivery)}
    args["text"] = say.mail_text(task, delivery, " ".join(filter(None, (delivery.extra, outcome.extra))))
    files = say.files_to_attach(task, delivery)
    if files and tool == "send_mail":
        names = [file.name for file in task.files]
        args["attachments"] = [file.name if names.count(file.name) == 1 else file.ref for file in files]
    return tool, args
