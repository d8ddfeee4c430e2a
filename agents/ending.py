"""How runs end: once, with everything of theirs closed, in one transaction.

The rule: a run that ends leaves no open call, request, reservation, child or unsent mail behind; a run of its own
tells the user by one mail, a delegated one tells its parent.
"""

from typing import Final

from agents import activity, audit, budget, journal, mails, prompt, requests, store
from agents.events import RunChanged, RunEnded
from agents.office import Office
from agents.ports import WriteTx
from agents.runs import start
from agents.states import CallState, PlanKind, RequestState, RunState
from agents.store import Call, Run
from agents.tool import Risk

_MAYBE: Final = "Not finished: the run was stopped while this was under way; it may have happened."


def finish(tx: WriteTx, office: Office, run: Run, state: RunState, text: str) -> bool:
    """End a run. A cancelled run ends as cancelled, whatever came of it meanwhile. False: it has ended before."""
    if run.ended is not None:
        return False
    if run.cancel_at is not None:
        state, text = RunState.CANCELLED, run.cancel_why
    _close_all(tx, office, run, text)
    if state is RunState.CANCELLED:
        _keep_letters(tx, office, run)
    measured = {"now": office.now(), "steady": office.steady()}
    if not tx.run("agents.runs.finish", run=run.id, state=state, outcome=text, **measured):
        return False
    ended = store.get_run(tx, run.id)
    if ended.parent is None:
        mails.ending_mail(tx, office, ended, state, text)
        _hand_on_letters(tx, office, ended)
    else:
        _tell_parent(tx, office, ended, state, text)
    activity.put(tx, office, ended)
    audit.record(tx, office.now(), run.account, f"run.{state}", run.id)
    tx.emit(RunChanged(run.id, run.account, state))
    tx.emit(RunEnded(run.id, run.account, run.thread, state))
    tx.after(office.bells.clock)
    return True


def _close_all(tx: WriteTx, office: Office, run: Run, text: str) -> None:
    for row in tx.all("agents.runs.children", run=run.id):
        child = store.to_run(row)
        if child.ended is None:
            cancel(tx, office, child, text)
    for row in tx.all("agents.requests.open_of_run", run=run.id):
        request = store.to_request(row)
        requests.close_items(
            tx, office, request, RequestState.CANCELLED, CallState.CANCELLED, prompt.result_cancelled()
        )
    tx.run("agents.outbox.withdraw", run=run.id, now=office.now())
    for call in store.open_calls(tx, run.id):
        journal.end_call(tx, office, call, _cut_off(tx, call))
    for row in tx.all("agents.models.open_of_run", run=run.id):
        lose(tx, office, run, row["id"])


def _cut_off(tx: WriteTx, call: Call) -> journal.Ending:
    """The ending of a call that its run does not wait for."""
    mail = tx.one("agents.outbox.of_call", call=call.id) if call.plan is PlanKind.MAIL else None
    if mail is not None and mail["state"] == "withdrawn":
        return journal.Ending(CallState.FAILED, prompt.result_cancelled(), "taken back before it was sent")
    if call.state is CallState.STARTED and call.risk is not Risk.READ and call.plan in (PlanKind.ACT, PlanKind.MAIL):
        return journal.Ending(CallState.CANCELLED, _MAYBE)
    return journal.Ending(CallState.CANCELLED, prompt.result_cancelled())


def lose(tx: WriteTx, office: Office, run: Run, model_call: str) -> None:
    """A model call whose answer will never come: what was reserved for it counts as spent."""
    row = tx.one("agents.models.get", id=model_call)
    if row is None or row["state"] != "reserved":
        return
    spent = {"tok_in": row["reserved_t"], "tok_out": 0, "cost_u": row["reserved_u"]}
    tx.run(
        "agents.models.settle",
        id=model_call,
        state="lost",
        fault=None,
        text=None,
        retry_at=None,
        now=office.now(),
        **spent,
    )
    tx.run("agents.runs.charge", run=run.id, n_model=1, n_tool=0, cost_unknown=1, **spent)
    budget.settle(tx, run, row["day"], row["reserved_u"], row["reserved_u"], row["reserved_t"])


def cancel(tx: WriteTx, office: Office, run: Run, why: str) -> bool:
    """Stop a run: nothing new of it starts after this transaction. False: it has ended, or was stopped before.

    A run that a worker holds ends by its worker, which is told; every other one ends here.
    """
    if not tx.run("agents.runs.cancel", run=run.id, why=why, now=office.now()):
        return False
    audit.record(tx, office.now(), run.account, "run.stop", run.id)
    flagged = store.get_run(tx, run.id)
    if flagged.state is not RunState.RUNNING:
        return finish(tx, office, flagged, RunState.CANCELLED, why)
    _close_requests_and_children(tx, office, flagged, why)
    tx.after(lambda: office.bells.stop(run.id))
    return True


def _close_requests_and_children(tx: WriteTx, office: Office, run: Run, why: str) -> None:
    """What of a held run can be closed at once, before its worker has let go."""
    for row in tx.all("agents.runs.children", run=run.id):
        cancel(tx, office, store.to_run(row), why)
    for row in tx.all("agents.requests.open_of_run", run=run.id):
        request = store.to_request(row)
        requests.close_items(
            tx, office, request, RequestState.CANCELLED, CallState.CANCELLED, prompt.result_cancelled()
        )
    tx.run("agents.outbox.withdraw", run=run.id, now=office.now())


def _tell_parent(tx: WriteTx, office: Office, child: Run, state: RunState, text: str) -> None:
    """A delegated task ends: its parent's call gets the typed outcome, and the mark."""
    if child.parent is None or child.parent_call is None:
        return
    call = store.get_call(tx, child.parent_call)
    if call.ended is not None:
        return
    journal.mark_from(tx, office, child.parent, child)
    name = mails.display(office, child.agent, child.depth)
    ending = journal.Ending(CallState.DONE, text, name, source=name)
    if state is not RunState.DONE:
        ending = journal.Ending(
            CallState.FAILED, f"The task was not finished ({state.value}): {text}", name, source=name
        )
    journal.end_call(tx, office, call, ending)
    requests.requeue(tx, office, child.parent)


def _keep_letters(tx: WriteTx, office: Office, run: Run) -> None:
    """Letters that a stopped run never read: they start nothing, and stand in its journal for whoever goes on."""
    for row in tx.all("agents.letters.pending", run=run.id):
        journal.append_letter(tx, office, run.id, journal.letter_of({"letter": store.json_object(row["body"])}))
    tx.run("agents.letters.take", run=run.id)


def _hand_on_letters(tx: WriteTx, office: Office, run: Run) -> None:
    """Letters that came too late for this run start the next one, so that none is left unanswered."""
    rows = tx.all("agents.letters.pending", run=run.id)
    if not rows:
        return
    letters = [journal.letter_of({"letter": store.json_object(row["body"])}) for row in rows]
    successor = start(tx, office, letters[0], f"after.{run.id}", letters[0].origin)
    for letter in letters[1:]:
        journal.append_letter(tx, office, successor, letter)
    tx.run("agents.letters.hand_on", run=run.id, successor=successor)
    tx.run("agents.letters.take", run=successor)


def forget_thread(tx: WriteTx, office: Office, account: int, thread: str) -> None:
    """Delete everything of a thread but its keys, its Message-IDs and the audit trail. What still runs is stopped
    first.

    A run that a worker holds right now is gone when it wants to write down its outcome; nothing of it is kept.
    """
    for row in tx.all("agents.runs.active_of_thread", account=account, thread=thread):
        run = store.to_run(row)
        cancel(tx, office, run, "Its thread was deleted.")
        finish(tx, office, store.get_run(tx, run.id), RunState.CANCELLED, "Its thread was deleted.")
    where = {"account": account, "thread": thread}
    tx.run("agents.letters.forget", **where)
    tx.run("agents.requests.forget", **where)
    tx.run("agents.outbox.forget", **where)
    tx.run("agents.runs.forget", **where)
    tx.run("agents.threads.forget_forks", **where)
    tx.run("agents.threads.forget_title", **where)
    tx.run("agents.blobs.forget")
    audit.record(tx, office.now(), account, "thread.forgotten")
