"""What holds at every moment, and what holds once everything has ended, whatever happened before."""

import json

from agents import context, history, store
from agents.office import Office
from agents.ports import ReadTx
from tests.agents.kit import World

ALWAYS = {
    "a wait for a time without a time": "SELECT id FROM runs WHERE (state = 'waiting_time') <> (wake_at IS NOT NULL)",
    "an ended run with an open call": "SELECT c.id FROM tool_calls AS c JOIN runs AS r ON r.id = c.run"
    " WHERE r.ended IS NOT NULL AND c.ended IS NULL",
    "an ended run with an open request": "SELECT q.id FROM requests AS q JOIN runs AS r ON r.id = q.run"
    " WHERE r.ended IS NOT NULL AND q.state = 'open'",
    "an ended run with a model call under way": "SELECT m.id FROM model_calls AS m JOIN runs AS r ON r.id = m.run"
    " WHERE r.ended IS NOT NULL AND m.state = 'reserved'",
    "an ended run whose child goes on": "SELECT c.id FROM runs AS c JOIN runs AS p ON p.id = c.parent"
    " WHERE p.ended IS NOT NULL AND c.ended IS NULL AND c.cancel_at IS NULL",
    "a run that ended without its one mail": "SELECT id FROM runs AS r WHERE r.ended IS NOT NULL AND r.depth = 0"
    " AND (SELECT count(*) FROM outbox AS o WHERE o.run = r.id AND o.kind IN ('result', 'failure')) <> 1",
    "a last mail of a run that goes on": "SELECT o.key FROM outbox AS o JOIN runs AS r ON r.id = o.run"
    " WHERE o.kind IN ('result', 'failure') AND r.ended IS NULL",
    "an open request without a pending item": "SELECT q.id FROM requests AS q WHERE q.state = 'open'"
    " AND NOT EXISTS (SELECT 1 FROM approvals AS a WHERE a.request = q.id AND a.state = 'pending')",
    "a pending item of a closed request": "SELECT a.id FROM approvals AS a JOIN requests AS q ON q.id = a.request"
    " WHERE a.state = 'pending' AND q.state <> 'open'",
    "a waiting call that nobody is asked about": "SELECT c.id FROM tool_calls AS c JOIN runs AS r ON r.id = c.run"
    " WHERE c.state IN ('waiting_approval', 'unknown') AND r.state NOT IN ('waiting_budget', 'queued', 'running')"
    " AND NOT EXISTS (SELECT 1 FROM approvals AS a WHERE a.call = c.id AND a.state = 'pending')",
    "a gated call that ran without a spent approval": "SELECT c.id FROM tool_calls AS c"
    " WHERE c.gated = 1 AND c.plan <> 'ask' AND c.attempt > 0 AND c.state IN ('started', 'done')"
    " AND NOT EXISTS (SELECT 1 FROM approvals AS a"
    " WHERE a.call = c.id AND (a.spent_at IS NOT NULL OR a.state = 'confirmed'))",
    "a ledger that does not add up": "SELECT * FROM (SELECT (SELECT sum(reserved_u) FROM ledger) AS a,"
    " (SELECT sum(reserved_u) FROM model_calls WHERE state = 'reserved') AS b) WHERE coalesce(a, 0) <> coalesce(b, 0)",
    "tokens that do not add up": "SELECT * FROM (SELECT (SELECT sum(tokens) FROM ledger) AS a,"
    " (SELECT sum(coalesce(tok_in, 0) + coalesce(tok_out, 0)) FROM model_calls) AS b,"
    " (SELECT sum(tok_in + tok_out) FROM runs) AS c) WHERE a <> b OR b <> c",
}
ENDED = {
    "a run goes on": "SELECT id, state FROM runs WHERE ended IS NULL",
    "a call has no result": "SELECT id, state FROM tool_calls WHERE ended IS NULL OR result IS NULL",
    "a request is open": "SELECT id FROM requests WHERE state = 'open'",
    "money is set aside": "SELECT * FROM ledger WHERE reserved_u <> 0",
    "a mail is under way": "SELECT key, state FROM outbox WHERE state IN ('sending', 'data_sent')",
}


def broken(w: World, *, ended: bool) -> list[str]:
    """Which invariants do not hold, with the first rows that show it."""
    found = [
        f"{what}: {json.dumps(rows[:3], default=str)}"
        for what, sql in {**ALWAYS, **(ENDED if ended else {})}.items()
        if (rows := w.rows(sql))
    ]
    return found + (histories(w) if ended else [])


def histories(w: World) -> list[str]:
    """The history that each run would be given next is valid."""
    office = w.runtime._office

    ids = [row["id"] for row in w.rows("SELECT id FROM runs")]

    def faults(tx: ReadTx) -> list[str]:
        return [fault for run in ids for fault in _faults(tx, office, store.get_run(tx, run))]

    return w.db.read(faults)


def _faults(tx: ReadTx, office: Office, run: store.Run) -> list[str]:
    return history.faults(context._messages(tx, office, run, 0))
