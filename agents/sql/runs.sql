-- name: add
-- Makes a run, queued.
INSERT INTO runs (id, account, agent, thread, root, parent, parent_call, depth, origin, fire_key, model, subject, answers, message,
                  state, queued, deadline, taint, created, updated)
VALUES (:id, :account, :agent, :thread, :root, :parent, :parent_call, :depth, :origin, :fire_key, :model, :subject, :answers,
        :message, 'queued', :now, :deadline, :taint, :now, :now);

-- name: get
-- One run.
SELECT * FROM runs WHERE id = :run;

-- name: active_of_agent
-- The unfinished run of an agent in a thread.
SELECT * FROM runs WHERE account = :account AND thread = :thread AND agent = :agent AND depth = 0 AND ended IS NULL
ORDER BY rowid DESC LIMIT 1;

-- name: active_of_thread
-- The unfinished runs of a thread, children left out.
SELECT * FROM runs WHERE account = :account AND thread = :thread AND depth = 0 AND ended IS NULL ORDER BY rowid;

-- name: last_of_thread
-- The newest run of a thread, children left out.
SELECT * FROM runs WHERE account = :account AND thread = :thread AND depth = 0 ORDER BY rowid DESC LIMIT 1;

-- name: earlier
-- The finished runs of an agent in a thread before a given one, and those of the thread that it was forked from that had
-- begun when the mail was written that it goes on from; oldest first.
SELECT * FROM runs AS r
WHERE r.account = :account AND r.agent = :agent AND r.depth = 0
  AND ((r.thread = :thread AND r.ended IS NOT NULL AND r.rowid < (SELECT rowid FROM runs WHERE id = :before))
       OR EXISTS (SELECT 1 FROM json_each(:line) AS l
                  WHERE json_extract(l.value, '$.thread') = r.thread AND r.created <= json_extract(l.value, '$.upto')))
ORDER BY r.rowid;

-- name: thread_taint
-- Whether anything that ran in a thread, or in one that it was forked from, has read untrusted text.
SELECT max(r.taint) FROM runs AS r
WHERE r.account = :account AND (r.thread = :thread OR r.thread IN (SELECT json_extract(l.value, '$.thread') FROM json_each(:line) AS l));

-- name: children
-- The children of a run.
SELECT * FROM runs WHERE parent = :run ORDER BY rowid;

-- name: count_children
-- How many tasks a run has delegated.
SELECT count(*) FROM runs WHERE parent = :run;

-- name: candidates
-- Queued runs, those of the agents with the least work in hand first, then the oldest.
WITH busy AS MATERIALIZED (SELECT account, agent, count(*) AS n FROM runs WHERE state = 'running' GROUP BY account, agent),
     accounts AS MATERIALIZED (SELECT account, sum(n) AS n FROM busy GROUP BY account),
     agents AS MATERIALIZED (SELECT agent, sum(n) AS n FROM busy GROUP BY agent)
SELECT q.id, q.agent, q.account FROM runs AS q
LEFT JOIN accounts AS a ON a.account = q.account LEFT JOIN agents AS g ON g.agent = q.agent
WHERE q.state = 'queued'
ORDER BY coalesce(a.n, 0), coalesce(g.n, 0), q.queued, q.rowid
LIMIT :limit;

-- name: claim
-- Leases a queued run to this start of the program.
UPDATE runs SET state = 'running', boot = :boot, claimed = :steady, wake_at = NULL, updated = :now WHERE id = :run AND state = 'queued';

-- name: park
-- Gives a lease back: the run waits for something, as a row.
UPDATE runs SET state = :state, boot = NULL, wake_at = :wake_at, active_ms = active_ms + max(0, :steady - claimed), claimed = NULL,
                updated = :now
WHERE id = :run AND state = 'running';

-- name: requeue
-- What a run waited for has come.
UPDATE runs SET state = 'queued', queued = :now, wake_at = NULL, updated = :now WHERE id = :run AND state LIKE 'waiting~_%' ESCAPE '~';

-- name: requeue_budget
-- Wakes every run of a family that waits for its budget.
UPDATE runs SET state = 'queued', queued = :now, wake_at = NULL, updated = :now WHERE root = :root AND state = 'waiting_budget';

-- name: due
-- Runs whose time has come.
SELECT id FROM runs WHERE state = 'waiting_time' AND wake_at <= :now;

-- name: overdue
-- Unfinished runs past their age that nobody holds.
SELECT id FROM runs WHERE ended IS NULL AND state <> 'running' AND deadline <= :now AND depth = 0;

-- name: next_wake
-- The next moment at which a run wants the clock.
SELECT min(at) FROM (
    SELECT min(wake_at) AS at FROM runs WHERE state = 'waiting_time'
    UNION ALL SELECT min(deadline) FROM runs WHERE ended IS NULL AND depth = 0);

-- name: orphans
-- Runs leased to an earlier start, which is dead (the folder's lock proves it).
SELECT id FROM runs WHERE state = 'running' AND boot <> :boot;

-- name: recover
-- Takes a dead start's run back into the queue.
UPDATE runs SET state = 'queued', boot = NULL, claimed = NULL, queued = :now, updated = :now WHERE id = :run AND state = 'running';

-- name: cancel
-- Flags a run: nothing new starts after this.
UPDATE runs SET cancel_at = :now, cancel_why = :why, updated = :now WHERE id = :run AND ended IS NULL AND cancel_at IS NULL;

-- name: finish
-- Ends a run, once.
UPDATE runs SET state = :state, boot = NULL, wake_at = NULL, outcome = :outcome, ended = :now, updated = :now,
                active_ms = active_ms + CASE WHEN claimed IS NULL THEN 0 ELSE max(0, :steady - claimed) END, claimed = NULL
WHERE id = :run AND ended IS NULL;

-- name: taint
-- Marks a run: it has read untrusted text.
UPDATE runs SET taint = 1 WHERE id = :run AND taint = 0;

-- name: fall_back
-- The next model takes over.
UPDATE runs SET fallback = fallback + 1, updated = :now WHERE id = :run;

-- name: thread_model
-- The model that was last picked by its tag in a thread.
SELECT model FROM runs WHERE account = :account AND thread = :thread AND agent = :agent AND depth = 0 AND model IS NOT NULL
ORDER BY rowid DESC LIMIT 1;

-- name: shrink
-- Makes the run's next model request smaller.
UPDATE runs SET shrink = shrink + 1 WHERE id = :run;

-- name: charge
-- Adds to what a run has used.
UPDATE runs SET n_model = n_model + :n_model, n_tool = n_tool + :n_tool, tok_in = tok_in + :tok_in, tok_out = tok_out + :tok_out,
                cost_u = cost_u + :cost_u, cost_unknown = max(cost_unknown, :cost_unknown)
WHERE id = :run;

-- name: totals
-- What a run and its children have used and reserved.
SELECT coalesce(sum(n_model), 0) AS n_model, coalesce(sum(n_tool), 0) AS n_tool, coalesce(sum(tok_in + tok_out), 0) AS tokens,
       coalesce(sum(cost_u), 0) AS cost_u, coalesce(max(cost_unknown), 0) AS cost_unknown, coalesce(sum(active_ms), 0) AS active_ms,
       coalesce(sum(CASE WHEN claimed IS NULL THEN 0 ELSE max(0, :steady - claimed) END), 0) AS running_ms,
       (SELECT coalesce(sum(m.reserved_u), 0) FROM model_calls AS m JOIN runs AS f ON f.id = m.run
        WHERE f.root = :root AND m.state = 'reserved') AS reserved_u,
       (SELECT coalesce(sum(m.reserved_t), 0) FROM model_calls AS m JOIN runs AS f ON f.id = m.run
        WHERE f.root = :root AND m.state = 'reserved') AS reserved_t
FROM runs WHERE root = :root;

-- name: raise
-- Raises the limits of a family (kept at its root).
UPDATE runs SET raised = :raised, updated = :now WHERE id = :run AND ended IS NULL;

-- name: activity
-- Remembers which state of a run Activity shows.
UPDATE runs SET activity = activity + 1, activity_at = :now WHERE id = :run;

-- name: stale_activity
-- Unfinished runs that changed after Activity last showed them.
SELECT id FROM runs WHERE ended IS NULL AND activity_at < updated AND id > :after ORDER BY id LIMIT :limit;

-- name: taints_add
-- Names a source of untrusted text.
INSERT INTO taints (run, source, at) VALUES (:run, :source, :now) ON CONFLICT DO NOTHING;

-- name: taints
-- The sources of untrusted text a run has read, in the order it read them.
SELECT source FROM taints WHERE run = :run ORDER BY at, source;

-- name: thread_taints
-- The sources of untrusted text of a whole thread, and of those that it was forked from.
SELECT DISTINCT t.source FROM taints AS t JOIN runs AS r ON r.id = t.run
WHERE r.account = :account AND (r.thread = :thread OR r.thread IN (SELECT json_extract(l.value, '$.thread') FROM json_each(:line) AS l));

-- name: listed
-- The newest runs of an account, delegated tasks too, newest first.
SELECT * FROM runs WHERE account = :account AND (:agent IS NULL OR agent = :agent) AND (:state IS NULL OR state = :state)
ORDER BY rowid DESC LIMIT :limit;

-- name: named
-- The runs of an account whose id ends so.
SELECT * FROM runs WHERE account = :account AND id LIKE '%' || :ident ESCAPE '!' LIMIT 2;

-- name: counts
-- How many runs are in each state.
SELECT state, count(*) AS n FROM runs WHERE account = :account GROUP BY state;

-- name: forget
-- Deletes the runs of a thread with everything that hangs on them.
DELETE FROM runs WHERE account = :account AND thread = :thread;
