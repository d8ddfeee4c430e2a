"""The words of every mail we write, as plain text and as HTML that says the same.

The rule: the outcome stands first, the program's own facts stand last, and no line reads as a decision word, however a
client wraps or quotes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from html import escape
from urllib.parse import quote

from agents.letter import ActivityView, Field, File, Footer, Item, Outgoing, RequestView, Spent, ToolCount
from bridge.post import html
from bridge.post.shown import address, block, shorten, visible

SIGNATURE = "-- "
_BOX = "margin:12px 0;border-left:3px solid #b8b8b8;padding-left:10px"
_ADDRESS_FIELDS = frozenset({"to", "cc", "bcc", "from", "reply-to"})
_HOW = (
    'To let it go ahead, answer this mail with the single word "approve"; to refuse, with "reject" and, if you like, a '
    "reason after a colon. Anything else you write goes to the agent, and nothing is done. To change it first, write "
    '"edit" and the new lines.'
)
_HOW_SOME = (
    'Several items are decided by number: "approve 1,3" lets two of them go ahead, "reject 2: too late" refuses one.'
)
_HOW_GRANT = 'The answer "always approve" allows exactly this from now on, without being asked.'
_HOW_UNKNOWN = (
    'Please look for yourself. Then answer "done" if it happened, "skip" to leave it, or "approve" to do it, perhaps a '
    "second time."
)


@dataclass(frozen=True, slots=True)
class Written:
    """The two forms of one mail, and files that its text speaks of (a value too long to show)."""

    text: str
    html: str
    files: tuple[File, ...] = ()


def when(millis: int) -> str:
    """A moment as the user reads it, in the zone of this machine: "Wed 2 Dec, 09:12"."""
    moment = datetime.fromtimestamp(millis / 1000).astimezone()
    return f"{moment:%a} {moment.day} {moment:%b, %H:%M}"


def money(cost: Decimal | None, known: bool) -> str:
    """A cost in EUR; an unknown one is called unknown and never nothing: it counts at an assumed price."""
    if cost is None:
        return "cost unknown"
    return f"{cost:.3f} EUR" if known else f"cost unknown, counted as {cost:.3f} EUR"


def write(outgoing: Outgoing, display: str, decide_at: str) -> Written:
    """The text and HTML of an Outgoing.

    `display` is the agent's name, `decide_at` the request's one-time address, or empty.
    """
    if outgoing.activity is not None:
        return _activity(outgoing, outgoing.activity)
    if outgoing.request is not None:
        return _request(outgoing, outgoing.request, display, decide_at)
    foot = footer_lines(outgoing.footer) if outgoing.footer else []
    text = outgoing.body.rstrip() + ("\n\n" + "\n".join([SIGNATURE, *foot]) if foot else "") + "\n"
    page = html.page(html.from_markdown(outgoing.body) + (html.footer(foot) if foot else ""))
    return Written(text, page)


def footer_lines(foot: Footer) -> list[str]:
    """What the program says under a mail: who, how long, how much, which tools, and who received data."""
    model = "demo (no AI)" if foot.demo else foot.model
    head = [f"{foot.agent}, {model}", _seconds(foot.seconds), _count(foot.model_calls, "model call")]
    if not foot.demo:
        head += [f"{foot.tokens:,} tokens", money(foot.cost, foot.cost_known)]
    lines = [", ".join(head)]
    if foot.unread:
        lines.append(f"Could not be read: {', '.join(map(visible, foot.unread))}")
    if foot.unseen:
        lines.append(f"Not seen, as the model takes no pictures: {', '.join(map(visible, foot.unseen))}")
    if foot.tools:
        lines.append("Tools: " + ", ".join(map(_tool, foot.tools)))
    reached = "; ".join(map(visible, foot.endpoints)) if foot.endpoints else "nobody outside this machine"
    lines.append(f"Data went to: {reached}")
    return lines


def _tool(count: ToolCount) -> str:
    facts = [str(count.runs)] if count.runs or not (count.refused or count.failed) else []
    facts += [f"{count.refused} refused"] if count.refused else []
    facts += [f"{count.failed} failed"] if count.failed else []
    return f"{count.name} {', '.join(facts)}" + (f" ({count.note})" if count.note else "")


def _seconds(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 1 else "under 1 s"
    return f"{seconds / 60:.0f} min"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# --- requests and questions


def _request(outgoing: Outgoing, view: RequestView, display: str, decide_at: str) -> Written:
    if view.question is not None:
        return _question(outgoing, view, display)
    blocks, files = _items(view.items)
    head = [outgoing.body.strip()] if outgoing.body.strip() else [_opening(view, display)]
    facts = _facts(view)
    how = _how(view)
    links = _links(view, decide_at)
    ways = "\n".join(f"{label}: {link}" for label, link in links)
    text = "\n\n".join([*head, *blocks, "\n".join(facts), "\n".join(how), ways])
    page = html.page(
        "".join(f"<p>{escape(part)}</p>" for part in head)
        + "".join(f'<div style="{_BOX}">{html.preformatted(part)}</div>' for part in blocks)
        + "".join(f"<p>{escape(part)}</p>" for part in [*facts, *how])
        + "<p>"
        + "<br>\r\n".join(f'<a href="{escape(link)}">{escape(label)}</a>' for label, link in links)
        + "</p>"
    )
    return Written(text + "\n", page, files)


def _opening(view: RequestView, display: str) -> str:
    about = f', as you asked in "{visible(view.asked_in)}"' if view.asked_in else ""
    what = "asks to do one thing" if len(view.items) == 1 else f"asks to do {len(view.items)} things"
    return f"{display} {what}{about}. Nothing happens until you decide."


def _question(outgoing: Outgoing, view: RequestView, display: str) -> Written:
    question = visible(view.question or "").strip()
    about = f' about "{visible(view.asked_in)}"' if view.asked_in else ""
    choices = "\n".join(f"* {visible(choice)}" for choice in view.choices)
    tail = f"Answer this mail in your own words. It waits for you until {when(view.expires)}."
    text = "\n\n".join(part for part in (f"{display} has a question{about}:", question, choices, tail) if part)
    listed = "".join(f"<li>{escape(visible(choice))}</li>" for choice in view.choices)
    listed = f"<ul>{listed}</ul>" if listed else ""
    page = html.page(
        f"<p>{escape(display)} has a question{escape(about)}:</p>"
        f'<blockquote style="border-left:3px solid #aaa;padding-left:10px">{html.preformatted(question)}</blockquote>'
        f"{listed}<p>{escape(tail)}</p>"
    )
    return Written(text + "\n", page)


def request_text(view: RequestView) -> str:
    """A request for the command line: the items exactly as its mail shows them, then the program's facts."""
    if view.question is not None:
        return visible(view.question).strip()
    return "\n\n".join([*_items(view.items)[0], "\n".join(_facts(view))])


def _items(items: Sequence[Item]) -> tuple[list[str], tuple[File, ...]]:
    blocks: list[str] = []
    files: list[File] = []
    for item in items:
        width = max((len(field.name) for field in item.fields), default=0) + 1
        lines = [f"{item.number}. {visible(item.title)}"]
        for field in item.fields:
            value = shorten(field.value)
            if value.cut:
                files.append(File(f"item-{item.number}-{field.name}.txt", "text/plain", field.value.encode()))
            lines += block(field.name, _shown(field, value.text), visible(field.note), width)
        blocks.append("\n".join(lines))
    return blocks, tuple(files)


def _shown(field: Field, text: str) -> str:
    if field.name.lower() in _ADDRESS_FIELDS:
        return ", ".join(address(one.strip()) for one in text.split(","))
    return visible(text)


def _facts(view: RequestView) -> list[str]:
    lines = []
    if view.sources:
        lines.append(f"It read untrusted text before asking: {', '.join(map(visible, view.sources))}.")
    if view.spent:
        lines.append(_spent(view.spent))
    if view.two:
        lines.append(_two(*view.two))
    lines.append(f"It waits for you until {when(view.expires)}; after that it is not done.")
    return lines


def _two(reader: str, other: str) -> str:
    """That one yes is not enough, and whose the other one is."""
    if not other:
        return "Two people must agree to this, and no second one of the settings is here: it cannot be done."
    return f"Two people must agree to this: you ({visible(reader)}) and {visible(other)}. A no of either ends it."


def _spent(spent: Spent) -> str:
    cost = "" if spent.cost == 0 and spent.cost_known else f", {money(spent.cost, spent.cost_known)}"
    return f"So far this task took {_seconds(spent.seconds)}, {_count(spent.tools, 'tool')}{cost}."


def _how(view: RequestView) -> list[str]:
    if view.unknown_outcome:
        return [_HOW_UNKNOWN]
    lines = [_HOW]
    if len(view.items) > 1:
        lines.append(_HOW_SOME)
    if view.grant_offered:
        lines.append(_HOW_GRANT)
    return lines


def _links(view: RequestView, decide_at: str) -> list[tuple[str, str]]:
    """Links that write the answer; opening one decides nothing, sending the mail does. No label is a decision word."""
    subject = quote(f"Re: {view.title} [{view.code}]", safe="")
    approves = ("approve", "A mail that approves")
    if view.unknown_outcome:
        offered = [("done", "A mail saying it happened"), ("skip", "A mail leaving it"), approves]
    else:
        offered = [approves, ("reject", "A mail that refuses"), ("edit%0D%0A", "A mail that changes it")]
    return [(label, f"mailto:{decide_at}?body={word}&subject={subject}") for word, label in offered]


# --- activity


def _activity(outgoing: Outgoing, view: ActivityView) -> Written:
    lines = [f"{_clock(line.at)}  {visible(line.text)}" for line in view.lines]
    close = f"Cost {money(view.cost, view.cost_known)}." if view.cost != 0 or not view.cost_known else ""
    state = f"{view.title}: {view.state}, {_seconds(view.seconds)}."
    text = "\n\n".join(part for part in (state, "\n".join(lines), close, outgoing.body.strip()) if part) + "\n"
    page = html.page(
        f"<p><b>{escape(state)}</b></p>{html.preformatted(chr(10).join(lines))}<p>{escape(close)}</p>"
        + html.from_markdown(outgoing.body)
    )
    return Written(text, page)


def _clock(millis: int) -> str:
    return f"{datetime.fromtimestamp(millis / 1000).astimezone():%H:%M:%S}"
