"""One turn of a run inside one transaction: everything that is only rows is done, up to the next thing that touches
the world.

The rule: `advance` returns an effect only after the rows that say "this is under way" are part of the same
transaction; a run whose lease is gone is left alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agents import (
    approvals,
    asking,
    audit,
    chain,
    ending,
    ids,
    journal,
    loop,
    mails,
    outbox,
    prompt,
    proposals,
    requests,
    runs,
    schema,
    store,
    view,
)
from agents.budget import Over
from agents.events import RunChanged
from agents.letter import Kind, Outgoing
from agents.loop import AskUser, CallModel, Collect, Finish, Pause, Start, TakeLetters, Wait
from agents.office import Office
from agents.ports import WriteTx
from agents.states import CallState, PlanKind, RunState, StepKind
from agents.store import Call, Run
from agents.tool import Delegate, SendOut, Tool, ToolAsks, ToolCall, ToolContext, ToolFailed, ToolResult
from agents.wholetext import mended

_MOST_ACTIONS: Final = 64


@dataclass(frozen=True, slots=True)
class Work:
    """A call that was taken in hand and now has to be done."""

    call: Call
    tool: Tool
    wanted: ToolCall
    context: ToolContext
    timeout: float


@dataclass(frozen=True, slots=True)
class AskModel:
    """A model call that is due; it is not reserved yet."""

    run: Run
    seq: int
    attempt: int
    tag: str


@dataclass(frozen=True, slots=True)
class UseTools:
    """Calls in hand: side by side if there are several."""

    run: Run
    work: tuple[Work, ...]


Effect = AskModel | UseTools


def advance(tx: WriteTx, office: Office, boot: str, run_id: str) -> Effect | None:
    """Do what is only rows. Returns the next effect, or None when the run waits, has ended, or is not ours."""
    for _ in range(_MOST_ACTIONS):
        run = store.find_run(tx, run_id)
        if run is None or run.boot != boot:
            return None
        action = loop.decide(view.load(tx, office, run))
        if isinstance(action, CallModel):
            return AskModel(run, action.seq, action.attempt, chain.current(tx, office, run))
        if isinstance(action, Start):
            if work := _start(tx, office, run, action.calls):
                return UseTools(run, work)
        elif not _bookkeeping(tx, office, run, action):
            return None
    raise RuntimeError(f"run {run_id} makes no progress")


def _bookkeeping(tx: WriteTx, office: Office, run: Run, action: loop.Action) -> bool:
    """Perform an action that is only rows. False: the run is out of our hands now."""
    match action:
        case TakeLetters():
            _take_letters(tx, office, run)
        case AskUser(calls):
            proposals.ask(tx, office, run, [store.get_call(tx, call) for call in calls])
        case Collect():
            _collect(tx, office, run)
        case Wait(state, until):
            park(tx, office, run, state, until)
            return False
        case Pause(over):
            pause(tx, office, run, over)
            return False
        case Finish(state, text):
            ending.finish(tx, office, run, state, text)
            return False
        case _:
            return False
    return True


def _take_letters(tx: WriteTx, office: Office, run: Run) -> None:
    for row in tx.all("agents.letters.pending", run=run.id):
        letter = journal.letter_of({"letter": store.json_object(row["body"])})
        journal.append_letter(tx, office, run.id, letter, "The user wrote this while you were at work.")
    tx.run("agents.letters.take", run=run.id)


def _collect(tx: WriteTx, office: Office, run: Run) -> None:
    last = store.to_step(tx.all("agents.steps.last", run=run.id, limit=1)[0])
    calls = store.calls_of_step(tx, run.id, last.seq)
    journal.append(tx, office, run.id, StepKind.RESULTS, {"calls": [call.id for call in calls]})


def park(tx: WriteTx, office: Office, run: Run, state: RunState, until: int | None) -> None:
    """Give the lease back; the run waits as a row."""
    measured = {"now": office.now(), "steady": office.steady()}
    if tx.run("agents.runs.park", run=run.id, state=state, wake_at=until, **measured):
        tx.emit(RunChanged(run.id, run.account, state))
        tx.after(office.bells.clock)
        tx.after(office.bells.runs)
        tx.after(lambda: office.bells.activity(run.id))


def pause(tx: WriteTx, office: Office, run: Run, over: Over) -> None:
    """Wait for the user's word about a limit, and tell them."""
    seq = tx.value("agents.steps.next", run=run.id)
    audit.record(tx, office.now(), run.account, "run.paused", run.id, None, limit=over.limit)
    mails.pause_mail(tx, office, run, seq, over)
    park(tx, office, run, RunState.WAITING_BUDGET, None)


def _start(tx: WriteTx, office: Office, run: Run, calls: Sequence[str]) -> tuple[Work, ...]:
    """Take calls in hand: spend what has to be spent, do at once what is only rows, return the rest."""
    work: list[Work] = []
    for call_id in calls:
        call = store.get_call(tx, call_id)
        tool = _tool(tx, office, run, call.tool)
        try:
            approvals.spend(tx, office, run, call, tool)
        except approvals.NotSpent:
            continue
        if tool is None:
            text = f"Not done: {call.tool} is not available any more."
            journal.end_call(tx, office, call, journal.Ending(CallState.FAILED, text))
            continue
        if found := _begin(tx, office, run, call, tool):
            work.append(found)
    return tuple(work)


def _tool(tx: WriteTx, office: Office, run: Run, name: str) -> Tool | None:
    profile = office.profile(run.agent, run.depth)
    return proposals.offered(tx, office, run, profile).get(name) if profile else None


def _begin(tx: WriteTx, office: Office, run: Run, call: Call, tool: Tool) -> Work | None:
    """Start one call. What only writes rows is done here and ends (or waits) with this transaction."""
    plan = tool.plan(call.args)
    child = runs.spawn(tx, office, run, call, plan) if isinstance(plan, Delegate) else None
    tx.run("agents.calls.start", call=call.id, child=child, now=office.now())
    started = store.get_call(tx, call.id)
    if isinstance(plan, SendOut):
        _send(tx, office, run, started, plan)
        return None
    wanted = ToolCall(call.id, run.id, call.idem_key, call.tool, call.args, asking.heard(call))
    if call.plan is PlanKind.WITHIN:
        journal.end_call(tx, office, started, _within(tx, office, run, started, tool, wanted))
        return None
    if call.plan is not PlanKind.ACT:
        return None
    timeout = min(tool.timeout, office.limits(run.agent).tool_seconds)
    return Work(started, tool, wanted, context(tx, office, run), timeout)


def _within(tx: WriteTx, office: Office, run: Run, call: Call, tool: Tool, wanted: ToolCall) -> journal.Ending:
    try:
        result = tool.apply(tx, wanted, context(tx, office, run))
    except ToolFailed as fault:
        return journal.Ending(CallState.FAILED, fault.text)
    if result.notice:
        mails.notice_mail(tx, office, run, call.idem_key, result.notice)
    return tell_changes(call, journal.done(tx, office, run, call, result))


def _send(tx: WriteTx, office: Office, run: Run, call: Call, plan: SendOut) -> None:
    """Queue a mail for the outside world, or, when the user wants it a second time, queue the same row again."""
    row = tx.one("agents.outbox.of_call", call=call.id)
    if row is not None:
        tx.run(
            "agents.outbox.phase",
            key=row["key"],
            was=row["state"],
            state="queued",
            reply="",
            next_at=office.now(),
            now=office.now(),
        )
        tx.after(office.bells.mail)
        return
    mail = Outgoing(
        key=call.idem_key,
        kind=Kind.MAIL,
        account=run.account,
        agent=run.agent,
        thread=run.thread,
        subject=plan.mail.subject,
        body=plan.mail.text,
        state="queued",
        run=run.id,
        step=call.seq,
        message_id=ids.message_id(call.idem_key, office.settings.domain),
        mail=plan.mail,
    )
    outbox.put(tx, office, mail, call=call.id, taint=run.taint, refs=_refs(tx, run, plan))


def _refs(tx: WriteTx, run: Run, plan: SendOut) -> list[str]:
    """The references of the files that a mail names by reference or by name."""
    files = runs.earlier_attachments(tx, run)
    return [next(file.ref for file in files if name in (file.ref, file.name)) for name in plan.attachments]


def context(tx: WriteTx, office: Office, run: Run) -> ToolContext:
    """What a tool may know of its run."""
    return ToolContext(
        account=run.account,
        agent=run.agent,
        thread=run.thread,
        run=run.id,
        step=tx.value("agents.steps.next", run=run.id),
        tainted=run.taint,
        attachments=runs.earlier_attachments(tx, run),
        user_words=requests.user_words(tx, run),
        mail=office.mail,
        clock=office.clock,
        trusted=runs.trusted_attachments(tx, office, run),
        subject=run.subject,
    )


def complete(tx: WriteTx, office: Office, call_id: str, result: ToolResult) -> None:
    """A call in hand has given its result."""
    call = store.get_call(tx, call_id)
    if call.ended is None and call.state is CallState.STARTED:
        run = store.get_run(tx, call.run)
        result = replace(result, text=mended(result.text), source=mended(result.source))
        journal.end_call(tx, office, call, tell_changes(call, journal.done(tx, office, run, call, result)))


def fail(tx: WriteTx, office: Office, call_id: str, fault: ToolFailed) -> None:
    """A call in hand did nothing, and says why; a long reason is kept and shortened as a result is."""
    call = store.get_call(tx, call_id)
    if call.ended is None and call.state is CallState.STARTED:
        told = ToolResult(mended(fault.text), fault.untrusted, mended(fault.source))
        ending = journal.done(tx, office, store.get_run(tx, call.run), call, told)
        journal.end_call(tx, office, call, replace(ending, state=CallState.FAILED))


def park_call(tx: WriteTx, office: Office, call_id: str, wants: ToolAsks) -> None:
    """A call in hand needs an answer of the user before it goes on."""
    call = store.get_call(tx, call_id)
    if call.ended is None and call.state is CallState.STARTED:
        run = store.get_run(tx, call.run)
        asking.park(tx, office, call, wants)
        proposals.ask(tx, office, run, [store.get_call(tx, call_id)])


def doubt(tx: WriteTx, office: Office, call_id: str, why: str) -> None:
    """Nobody knows whether a call in hand happened."""
    call = store.get_call(tx, call_id)
    if call.ended is None:
        approvals.doubt(tx, office, store.get_run(tx, call.run), [call], why)


def tell_changes(call: Call, end: journal.Ending) -> journal.Ending:
    """If the user changed the arguments, the result says so, lest the model ask for its own version again."""
    if call.args_hash == call.asked_hash or end.state is not CallState.DONE:
        return end
    asked = schema.read_object(call.raw_args)
    changes = {name: value for name, value in call.args.items() if asked.get(name) != value}
    text = prompt.result_changed(end.text, changes)
    return journal.Ending(end.state, text, end.note, end.untrusted, end.source, end.files, end.whole)
