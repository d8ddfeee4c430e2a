"""From a model's reply to rows: each wanted call is read, checked and ruled on before anything of it can run.

The rule: ids are ours, raw text is kept, and one transaction holds the reply, its calls, their states and the request
for those that must be asked about.
"""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from agents import asking, audit, gate, grants, ids, journal, requests, runs, schema, seconds
from agents.llm import ModelReply, WantedCall
from agents.office import Office
from agents.ports import ReadTx, WriteTx
from agents.profile import Profile
from agents.states import CallState, PlanKind, RequestKind, StepKind
from agents.store import Call, Run, calls_of_step, to_call
from agents.tool import DELEGATE, Act, Ask, Delegate, Plan, Risk, SendOut, Tool, ToolFailed, Within

MAX_CALLS: Final = 16
READ_RESULT: Final = "read_result"
WARN_AT: Final = 3
_KINDS: Final[Mapping[type[Any], PlanKind]] = {
    Act: PlanKind.ACT,
    Within: PlanKind.WITHIN,
    Delegate: PlanKind.DELEGATE,
    Ask: PlanKind.ASK,
    SendOut: PlanKind.MAIL,
}
_NO_HASH: Final = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A wanted call after reading: what it is, and where it begins. `text` is its result when it begins at its end."""

    name: str
    args: Mapping[str, Any]
    state: CallState
    plan: PlanKind = PlanKind.NONE
    risk: Risk = Risk.READ
    def_hash: str = _NO_HASH
    fault: str | None = None
    text: str | None = None
    note: str = ""
    gated: bool = False
    repeats: int = 1


class Refusal(Exception):
    """A call that ends before it begins: what kind of fault it is, and what its model is told."""

    def __init__(self, fault: str, text: str, state: CallState = CallState.INVALID, repeats: int = 1) -> None:
        super().__init__(text)
        self.fault = fault
        self.text = text
        self.state = state
        self.repeats = repeats


def offered(tx: ReadTx, office: Office, run: Run, profile: Profile) -> Mapping[str, Tool]:
    """The tools a run may use now, by name; reading back a shortened result is always among them."""
    allowed = office.toolbox.for_profile(profile)
    tools = {name: tool for name, tool in allowed.items() if tool.wanted(tx, run.account, profile)}
    if run.depth or not _skills(office, profile):
        tools.pop(DELEGATE, None)
    reader = office.toolbox.all()[0].get(READ_RESULT)
    return tools if reader is None else {**tools, READ_RESULT: reader}


def _skills(office: Office, profile: Profile) -> list[str]:
    return [name for name in office.skills if profile.skills is None or name in profile.skills]


def take(tx: WriteTx, office: Office, run: Run, profile: Profile, reply: ModelReply) -> None:
    """Append the reply to the journal with its calls; open the requests that they need."""
    if not reply.text.strip() and not reply.calls:
        journal.append(tx, office, run.id, StepKind.NOTE, {"empty": True, "finish": reply.finish})
        return
    names = [wanted.name for wanted in reply.calls]
    seq = journal.append(
        tx, office, run.id, StepKind.MODEL, {"text": reply.text, "calls": names, "finish": reply.finish}
    )
    if not reply.calls:
        return
    tools = offered(tx, office, run, profile)
    judging = _Judging(tx, office, run, profile, tools, seq)
    for idx, wanted in enumerate(reply.calls):
        _add(tx, office, run, seq, idx, wanted, judging.judge(idx, wanted))
    tx.run(
        "agents.runs.charge",
        run=run.id,
        n_model=0,
        n_tool=len(reply.calls),
        tok_in=0,
        tok_out=0,
        cost_u=0,
        cost_unknown=0,
    )
    ask(tx, office, run, calls_of_step(tx, run.id, seq))


def ask(tx: WriteTx, office: Office, run: Run, calls: Sequence[Call]) -> None:
    """All gated calls of the turn in one request, those that two people must approve apart; each question in one of
    its own. What the user has no room for is left as it is: the run pauses with it.
    """
    waiting = [call for call in calls if call.state is CallState.WAITING_APPROVAL]
    gated: dict[tuple[str, ...], list[Call]] = {}
    for call in waiting:
        if not asking.is_question(call):
            gated.setdefault(seconds.wanted(tx, office, run, call.tool), []).append(call)
    questions = [call for call in waiting if asking.is_question(call)]
    wanted = [(RequestKind.APPROVAL, alike) for alike in gated.values()]
    wanted += [(RequestKind.QUESTION, [call]) for call in questions]
    for kind, alike in wanted[: requests.room(tx, office, run)]:
        requests.open_request(tx, office, run, kind, alike)


@dataclass(frozen=True, slots=True)
class _Judging:
    """Everything that ruling on the calls of one reply looks at."""

    tx: WriteTx
    office: Office
    run: Run
    profile: Profile
    tools: Mapping[str, Tool]
    seq: int

    def judge(self, idx: int, wanted: WantedCall) -> Judged:
        """Read and rule on one call; never raises for what a model wrote."""
        args: Mapping[str, Any] = {}
        repeats = 1
        try:
            if idx >= MAX_CALLS:
                raise Refusal("limit", f"Not done: more than {MAX_CALLS} calls in one turn.")
            tool = self._tool(wanted.name)
            args = self._args(tool, wanted.raw_args)
            repeats = self._repeats(wanted.name, args)
            return replace(self._rule(tool, args, self._plan(tool, args)), repeats=repeats)
        except Refusal as no:
            return Judged(wanted.name, args, no.state, fault=no.fault, text=no.text, repeats=max(repeats, no.repeats))

    def _tool(self, name: str) -> Tool:
        tool = self.tools.get(name)
        if tool is None:
            near = difflib.get_close_matches(name, self.tools, n=3, cutoff=0.4) or sorted(self.tools)
            raise Refusal("unknown_tool", f'There is no tool "{name}". There is: {", ".join(near)}.')
        return tool

    def _args(self, tool: Tool, raw: str) -> Mapping[str, Any]:
        try:
            args = schema.read_object(raw)
        except schema.Unreadable as fault:
            raise Refusal("bad_args", str(fault)) from None
        if wrong := schema.faults(tool.spec.schema, args):
            raise Refusal("bad_args", "The arguments do not fit: " + "; ".join(wrong[:8]) + ".")
        return args

    def _plan(self, tool: Tool, args: Mapping[str, Any]) -> Plan:
        try:
            plan = tool.plan(args)
            tool.describe(args)
        except ToolFailed as fault:
            raise Refusal("bad_args", fault.text) from None
        if isinstance(plan, Delegate):
            self._may_delegate(plan)
        if isinstance(plan, SendOut):
            self._may_attach(plan)
        return plan

    def _may_attach(self, plan: SendOut) -> None:
        files = runs.earlier_attachments(self.tx, self.run)
        if strange := set(plan.attachments) - {name for file in files for name in (file.ref, file.name)}:
            raise Refusal("bad_args", f"There is no attached file {', '.join(sorted(strange))}.")

    def _may_delegate(self, plan: Delegate) -> None:
        skills = _skills(self.office, self.profile)
        if plan.skill not in skills:
            raise Refusal(
                "bad_args", f'There is no specialist "{plan.skill}". There is: {", ".join(sorted(skills)) or "none"}.'
            )
        if self.tx.value("agents.runs.count_children", run=self.run.id) >= self.office.limits(self.run.agent).children:
            raise Refusal("limit", "Not done: this run has delegated as many tasks as it may.")

    def _repeats(self, name: str, args: Mapping[str, Any]) -> int:
        """How often the same call was wanted with equal results; the third is not run, the fifth stops the run."""
        row = self.tx.one("agents.calls.same", run=self.run.id, tool=name, args_hash=ids.digest(args), seq=self.seq)
        if row is None:
            return 1
        last = to_call(row)
        count = last.repeats + 1 if last.fault == "repeat" or self._same_result(last) else 2
        if count >= WARN_AT:
            text = "Not run: the same call gave the same result before. Do something else, or answer."
            raise Refusal("repeat", text, repeats=count)
        return count

    def _same_result(self, last: Call) -> bool:
        where = {"run": self.run.id, "tool": last.tool, "args_hash": last.args_hash}
        before = self.tx.one("agents.calls.same", seq=last.seq, **where)
        return before is None or before["result_hash"] == last.result_hash

    def _rule(self, tool: Tool, args: Mapping[str, Any], plan: Plan) -> Judged:
        risk, args_hash, def_hash = gate.effective_risk(tool), ids.digest(args), tool.spec.digest()
        self._refuse_duplicate(tool, risk, args_hash, plan)

        def use_grant() -> bool:
            return grants.use(self.tx, self.office, self.run, tool.spec.name, args_hash, def_hash) is not None

        two = bool(seconds.wanted(self.tx, self.office, self.run, tool.spec.name))
        setting = gate.Setting(self.run.taint, requests.user_words(self.tx, self.run) if tool.open_world else "", two)
        ruling = gate.rule(tool, plan, args, self.profile, setting, use_grant)
        judged = Judged(
            tool.spec.name, args, CallState.APPROVED, _KINDS[type(plan)], risk, def_hash, note=ruling.reason
        )
        if ruling.verdict is gate.Verdict.RUN:
            return judged
        return replace(judged, state=CallState.WAITING_APPROVAL, gated=True, note="")

    def _refuse_duplicate(self, tool: Tool, risk: Risk, args_hash: str, plan: Plan) -> None:
        """An effect that this run had already, as asked or as the user changed it, is not had again by asking again."""
        if risk is Risk.READ or isinstance(plan, Ask | Delegate):
            return
        where = {"run": self.run.id, "tool": tool.spec.name, "args_hash": args_hash}
        if self.tx.value("agents.calls.done_before", **where) is not None:
            raise Refusal("duplicate", "Not run: this run has done exactly that already. It is not done a second time.")


def _add(tx: WriteTx, office: Office, run: Run, seq: int, idx: int, wanted: WantedCall, judged: Judged) -> None:
    now = office.now()
    call = ids.new_id(now)
    tx.run(
        "agents.calls.add",
        id=call,
        run=run.id,
        seq=seq,
        idx=idx,
        provider_id=wanted.provider_id,
        raw_args=wanted.raw_args,
        **{name: getattr(judged, name) for name in ("def_hash", "risk", "plan", "state", "fault", "repeats", "note")},
        tool=judged.name,
        args=json.dumps(judged.args, ensure_ascii=False),
        args_hash=ids.digest(judged.args),
        gated=int(judged.gated),
        idem_key=ids.idem_key(run.id, seq, idx),
        result=judged.text,
        ok=None if judged.text is None else 0,
        ended=None if judged.text is None else now,
        now=now,
    )
    audit.record(
        tx,
        now,
        run.account,
        f"call.{judged.state}",
        run.id,
        call,
        tool=judged.name,
        fault=judged.fault,
        note=judged.note,
    )
