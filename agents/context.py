"""From a run's journal to one model request that fits the model's window.

The rule: the journal is never changed to fit; what is left out of a request is named in it, and effects that happened
are always in it, made by the program, so that no shortening can make a model forget that a mail went out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agents import compact, history, journal, mails, memory, prompt, proposals, report, schema, store, threads
from agents.compact import Summary
from agents.llm import AssistantMessage, Message, Model, ModelRequest, ResultMessage, SentCall, ToolSpec, UserMessage
from agents.office import Office
from agents.ports import ReadTx
from agents.profile import Profile
from agents.states import RunState, StepKind
from agents.store import Call, Run, Step

MAX_OUTPUT: Final = 4096
_FILL: Final = 0.7
_BYTES_A_TOKEN: Final = 3
_SHORT_RESULTS: Final = (None, 4096, 1024, 256)
_BRIEF: Final = 2
"""The level at which turns are left out; before it comes to that a model sums them up."""
_WHOLE_TASKS: Final = 2
_SHORT_TASKS: Final = 100
_HEAD: Final = 120
"""In brief: how many earlier tasks of a thread are given whole, how many before them in a line, how long that is."""
_UNFINISHED: Final = "(This task had not ended when the mail was written that this thread goes on from.)"
_NUDGE: Final = "Your answer was empty. Answer the user in words, or call a tool."


class HistoryInvalid(RuntimeError):
    """A history that must not be sent: a fault of the program."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request and the tokens it is thought to have (rounded up).

    With `summary` it asks not for the next answer but for a summary of the older part. `foreign` names the files in it
    that nobody here vouches for.
    """

    request: ModelRequest
    tokens: int
    summary: Summary | None = None
    foreign: tuple[str, ...] = ()


def build(tx: ReadTx, office: Office, run: Run, profile: Profile, model: Model, tag: str) -> Prepared:
    """The request for the run's next entry. Raises HistoryInvalid."""
    last = report.is_due(tx, office, run)
    offered = {} if last else proposals.offered(tx, office, run, profile)
    tools = tuple(tool.spec for _, tool in sorted(offered.items()))
    system = _system(tx, office, run, profile)
    room = int(model.window * _FILL) - tokens(system) - sum(tokens(_tool_text(one)) for one in tools)
    for level in range(run.shrink, len(_SHORT_RESULTS)):
        if level == _BRIEF and (asked := _summary(tx, office, run, model, tag)) is not None:
            return asked
        messages = _messages(tx, office, run, level)
        if _size(messages) <= room:
            break
    messages = report.as_told(messages) if last else messages
    if found := history.faults(messages):
        raise HistoryInvalid(f"run {run.id}: " + "; ".join(found))
    size = _size(messages) + tokens(system) + sum(tokens(_tool_text(one)) for one in tools)
    limit = max(256, min(MAX_OUTPUT, model.window // 4))
    return Prepared(ModelRequest(system, tuple(messages), tools, limit, tag), size)


def tokens(text: str) -> int:
    """A cautious guess: a token for every three bytes."""
    return len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN + 1


def _system(tx: ReadTx, office: Office, run: Run, profile: Profile) -> str:
    names = (
        []
        if run.depth
        else [name for name in sorted(office.skills) if profile.skills is None or name in profile.skills]
    )
    skills = [office.skills[name] for name in names]
    known = memory.shown(tx, run.account, profile)
    return prompt.system_prompt(profile, office.settings.address(profile.name), "the user", skills, known)


def _messages(tx: ReadTx, office: Office, run: Run, level: int) -> list[Message]:
    """The thread so far, at one level of shortening: 0 is everything, 3 only what cannot be left out."""
    result_limit = _SHORT_RESULTS[level]
    steps = store.steps(tx, run.id)
    last = compact.newest(steps)
    told = last is not None and bool(last.body["earlier"])
    messages = [] if run.depth or told else list(_earlier(tx, office, run, brief=level >= _BRIEF))
    older = [_turn(tx, office, run, step, result_limit) for step in steps if _stands_before(step, last)]
    newer = [_turn(tx, office, run, step, result_limit) for step in steps if _stands_after(step, last)]
    if level >= _BRIEF:
        newer = _cut(tx, office, run, newer)
    told_so: list[Message] = [] if last is None else [UserMessage(compact.told(tx, office, run, last))]
    return messages + [message for turn in (*older, told_so, *newer) for message in turn]


def _stands_before(step: Step, last: Step | None) -> bool:
    """Whether an entry that a summary covers is given all the same: what the user wrote always is."""
    return last is not None and step.seq <= int(last.body["upto"]) and step.kind is StepKind.USER


def _stands_after(step: Step, last: Step | None) -> bool:
    """Whether an entry is not covered by a summary."""
    return step.kind is not StepKind.COMPACT and (last is None or step.seq > int(last.body["upto"]))


def _summary(tx: ReadTx, office: Office, run: Run, model: Model, tag: str) -> Prepared | None:
    """A request for a summary of the older part, when there is enough of it that no summary tells yet."""
    steps = store.steps(tx, run.id)
    old = [] if run.depth else list(_earlier(tx, office, run, brief=False))
    wanted = compact.border(steps, bool(old))
    if wanted is None or not compact.may_ask(tx, run):
        return None
    last = compact.newest(steps)
    part = [] if last is not None else old
    part += [] if last is None else [UserMessage(compact.told(tx, office, run, last))]
    for step in steps:
        if _stands_after(step, last) and step.seq <= wanted.upto:
            part += _turn(tx, office, run, step, _SHORT_RESULTS[_BRIEF])
    most = int(model.window * _FILL) * _BYTES_A_TOKEN - len(compact.SYSTEM.encode())
    text = journal.shorten(compact.record(part), max(most, 1024), "the record")
    request = ModelRequest(compact.SYSTEM, (UserMessage(text),), (), compact.MAX_OUTPUT, tag)
    return Prepared(request, tokens(text) + tokens(compact.SYSTEM), wanted)


def _turn(tx: ReadTx, office: Office, run: Run, step: Step, limit: int | None) -> list[Message]:
    if step.kind is StepKind.USER:
        return [_user(office, step)]
    if step.kind is StepKind.NOTE:
        return [UserMessage(_NUDGE)]
    if step.kind in (StepKind.RESULTS, StepKind.COMPACT):
        return []
    calls = store.calls_of_step(tx, run.id, step.seq)
    said = AssistantMessage(
        step.body.get("text", ""), tuple(SentCall(call.id, call.tool, _asked(call)) for call in calls)
    )
    return [said, *(_result(call, limit) for call in calls)]


def _user(office: Office, step: Step) -> UserMessage:
    message = prompt.letter_message(journal.letter_of(step.body), office.zone)
    told = step.body.get("told", "")
    return replace(message, text=f"({told})\n{message.text}") if told else message


def _asked(call: Call) -> Any:
    """The arguments as the model gave them; what cannot be read is `{}`; the raw text stays in the journal."""
    try:
        return schema.read_object(call.raw_args)
    except schema.Unreadable:
        return {}


def _result(call: Call, limit: int | None) -> ResultMessage:
    text = call.result if call.result is not None else ""
    if limit is not None:
        text = journal.shorten(text, limit, call.id)
    if call.untrusted:
        text = prompt.wrap(text, call.source or call.tool)
    return ResultMessage(call.id, call.tool, text, call.ok)


def _earlier(tx: ReadTx, office: Office, run: Run, brief: bool) -> Iterable[Message]:
    """The thread's finished runs: what the user wrote, what was answered, and what was done. In brief the older ones
    have a line each.
    """
    line = threads.line(tx, run.account, run.thread)
    runs = [store.to_run(row) for row in tx.all("agents.runs.earlier", before=run.id, agent=run.agent, **line)]
    short = runs[:-_WHOLE_TASKS] if brief else []
    if short:
        yield from _shortened(tx, office, run, short[-_SHORT_TASKS:], len(short[:-_SHORT_TASKS]))
    for old in runs[len(short) :]:
        words, answer = _task(tx, office, run, old, None)
        yield from words
        yield AssistantMessage(answer)


def _shortened(tx: ReadTx, office: Office, run: Run, tasks: Sequence[Run], before: int) -> Iterable[Message]:
    """A line for each of these tasks; `before` are those that there are no lines of."""
    asked, answered = [], []
    for old in tasks:
        words, answer = _task(tx, office, run, old, _HEAD)
        asked.append(_head(next((said.words for said in words if said.words), "(material without words)"), _HEAD))
        answered.append(answer)
    more = f"; {before} before them are left out" if before else ""
    yield UserMessage(_listed(f"(Earlier tasks of this thread, shortened{more}:)", asked))
    yield AssistantMessage(_listed("(My answers to them, shortened:)", answered))


def _task(tx: ReadTx, office: Office, run: Run, old: Run, most: int | None) -> tuple[list[UserMessage], str]:
    """What a finished run was asked, and its answer; of a run that this thread is a fork of, what stood there then."""
    fork = threads.forked(tx, run.account, run.thread)
    then = fork.at if fork is not None and old.thread != run.thread else None
    steps = [step for step in store.steps(tx, old.id) if step.kind is StepKind.USER]
    words = [_user(office, step) for step in steps if then is None or step.at <= then]
    later = then is not None and (old.ended is None or old.ended > then)
    return words, _UNFINISHED if later else _outcome(tx, office, old, most)


def _listed(head: str, lines: Iterable[str]) -> str:
    return "\n".join([head, *(f"{number}. {line}" for number, line in enumerate(lines, 1))])


def _head(text: str, most: int | None) -> str:
    """The beginning of a text, in one line; the whole of it as it is for None."""
    if most is None:
        return text
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}..."


def _outcome(tx: ReadTx, office: Office, run: Run, most: int | None) -> str:
    """How a run ended. However short its words are made, what it did is told whole."""
    words = _head(run.outcome or "", most)
    said = words if run.state is RunState.DONE else f"(This task ended as {run.state.value}: {words})"
    did = mails.effects(tx, office, run)
    gap = "\n\n" if most is None else " "
    return said + (f"{gap}(Done in this task: " + "; ".join(did) + ")" if did else "")


def _cut(tx: ReadTx, office: Office, run: Run, turns: Sequence[list[Message]]) -> list[list[Message]]:
    """The user's words and the last turns whole; the turns between as one line of what was done."""
    turns = [turn for turn in turns if turn]
    if len(turns) <= compact.KEEP_TURNS + 1:
        return list(turns)
    head, middle, tail = turns[0], turns[1 : -compact.KEEP_TURNS], turns[-compact.KEEP_TURNS :]
    kept = [turn for turn in middle if turn and isinstance(turn[0], UserMessage)]
    did = "; ".join(mails.effects(tx, office, run)) or "nothing that changed anything"
    note = UserMessage(f"(Earlier turns of this task are left out here. Done in them: {did}.)")
    return [head, *kept, [note], *tail]


def _size(messages: Iterable[Message]) -> int:
    return sum(_message_tokens(message) for message in messages)


def _message_tokens(message: Message) -> int:
    if isinstance(message, AssistantMessage):
        return tokens(message.text) + sum(tokens(f"{call.name}{dict(call.args)}") + 8 for call in message.calls)
    return tokens(message.text) + 4


def _tool_text(spec: ToolSpec) -> str:
    return f"{spec.name}{spec.description}{dict(spec.schema)}"
