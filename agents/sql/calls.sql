-- name: add
-- Notes a call that a model wants.
INSERT INTO tool_calls (id, run, seq, idx, provider_id, tool, def_hash, args, args_hash, asked_hash, raw_args, risk, plan, state, gated,
                        fault, repeats, idem_key, result, ok, note, created, ended)
VALUES (:id, :run, :seq, :idx, :provider_id, :tool, :def_hash, :args, :args_hash, :args_hash, :raw_args, :risk, :plan, :state, :gated,
        :fault, :repeats, :idem_key, :result, :ok, :note, :now, :ended);

-- name: get
-- One call.
SELECT * FROM tool_calls WHERE id = :call;

-- name: of_step
-- The calls of one model reply, in its order.
SELECT * FROM tool_calls WHERE run = :run AND seq = :seq ORDER BY idx;

-- name: of_run
-- All calls of a run.
SELECT * FROM tool_calls WHERE run = :run ORDER BY seq, idx;

-- name: open_of_run
-- The calls of a run that have no result yet.
SELECT * FROM tool_calls WHERE run = :run AND ended IS NULL ORDER BY seq, idx;

-- name: start
-- Takes an approved call in hand, once.
UPDATE tool_calls SET state = 'started', attempt = attempt + 1, started = :now, child = coalesce(:child, child)
WHERE id = :call AND state = 'approved';

-- name: end
-- Ends a call with its one result.
UPDATE tool_calls SET state = :state, result = :result, result_hash = :result_hash, whole = :whole, ok = :ok, untrusted = :untrusted,
                      source = :source, files = :files, note = CASE WHEN :note = '' THEN note ELSE :note END, ended = :now
WHERE id = :call AND ended IS NULL AND state = :was;

-- name: doubt
-- Nobody knows whether a started call happened. Should it begin again, it begins at the beginning.
UPDATE tool_calls SET state = 'unknown', gated = 1, note = :note, asked = NULL WHERE id = :call AND state = 'started';

-- name: allow
-- The user lets a waiting call run.
UPDATE tool_calls SET state = 'approved', not_before = :not_before, note = :note
WHERE id = :call AND state IN ('waiting_approval', 'unknown');

-- name: again
-- A started call that may be repeated goes back.
UPDATE tool_calls SET state = 'approved', gated = 0 WHERE id = :call AND state = 'started';

-- name: gate
-- A call that was let through has to be asked about after all.
UPDATE tool_calls SET state = 'waiting_approval', gated = 1, def_hash = :def_hash, args_hash = :args_hash
WHERE id = :call AND state = 'approved';

-- name: edit
-- The user changed the arguments of a waiting call.
UPDATE tool_calls SET args = :args, args_hash = :args_hash WHERE id = :call AND state = 'waiting_approval';

-- name: same
-- The last call of a run with the same tool and arguments, but those of one reply.
SELECT * FROM tool_calls WHERE run = :run AND tool = :tool AND args_hash = :args_hash AND seq < :seq ORDER BY seq DESC, idx DESC LIMIT 1;

-- name: done_before
-- An effect of this run that the same wish has had already, as asked or as changed by the user.
SELECT id FROM tool_calls
WHERE run = :run AND tool = :tool AND (args_hash = :args_hash OR asked_hash = :args_hash) AND state IN ('done', 'started', 'unknown')
LIMIT 1;

-- name: unasked
-- The calls of a run that wait for its user, who has not been asked: too much waits for them already.
SELECT c.id FROM tool_calls AS c WHERE c.run = :run AND c.state = 'waiting_approval'
  AND NOT EXISTS (SELECT 1 FROM approvals AS a WHERE a.call = c.id AND a.state = 'pending') ORDER BY c.seq, c.idx;

-- name: may_have_acted
-- Whether an answer of a run, or of one that it gave a task to, was taken that wants an effect on the world.
SELECT 1 FROM tool_calls
WHERE (run = :run OR run IN (SELECT id FROM runs WHERE parent = :run))
  AND risk <> 'read' AND plan IN ('act', 'within', 'mail') AND fault IS NULL LIMIT 1;

-- name: park
-- A call in hand needs an answer of its user before it goes on.
UPDATE tool_calls SET state = 'waiting_approval', asked = :asked, progress = '' WHERE id = :call AND state = 'started';

-- name: told
-- The user has answered a call that asked; it goes on.
UPDATE tool_calls SET state = 'approved', asked = :asked WHERE id = :call AND state = 'waiting_approval' AND asked IS NOT NULL;

-- name: progress
-- How far a call has come, in its server's words.
UPDATE tool_calls SET progress = :progress WHERE id = :call AND state = 'started';

-- name: bad_since_good
-- Faulty calls of a run since the last one that worked, by fault.
SELECT fault, count(*) AS n FROM tool_calls
WHERE run = :run AND fault IN ('unknown_tool', 'bad_args')
  AND seq > coalesce((SELECT max(seq) FROM tool_calls WHERE run = :run AND state = 'done'), -1)
GROUP BY fault;

-- name: counts
-- What ran in a family of runs, by tool.
SELECT c.tool, sum(c.state IN ('done', 'started', 'unknown')) AS runs, sum(c.state IN ('denied', 'expired', 'cancelled', 'skipped')) AS refused,
       sum(c.state IN ('failed', 'invalid')) AS failed, max(c.note) AS note
FROM tool_calls AS c JOIN runs AS r ON r.id = c.run
WHERE r.root = :root GROUP BY c.tool ORDER BY min(c.rowid);

-- name: effects
-- What a family of runs has done to the world, or may have done, oldest first.
SELECT c.* FROM tool_calls AS c JOIN runs AS r ON r.id = c.run
WHERE r.root = :root AND c.risk <> 'read' AND c.plan IN ('act', 'within', 'mail') AND c.started IS NOT NULL
  AND c.state <> 'failed'
ORDER BY c.started, c.rowid;

-- name: started
-- The arguments of every call of one tool that a family of runs has begun, oldest first.
SELECT c.args FROM tool_calls AS c JOIN runs AS r ON r.id = c.run
WHERE r.root = :root AND c.tool = :tool AND c.started IS NOT NULL ORDER BY c.started, c.rowid;

-- name: unread
-- The arguments of the calls by which a family of runs wanted to read a file and could not, in any try.
SELECT c.args FROM tool_calls AS c JOIN runs AS r ON r.id = c.run
WHERE r.root = :root AND c.tool = 'read_attachment' AND c.state = 'failed'
  AND NOT EXISTS (SELECT 1 FROM tool_calls AS o JOIN runs AS p ON p.id = o.run
                  WHERE p.root = :root AND o.tool = c.tool AND o.args_hash = c.args_hash AND o.state = 'done')
ORDER BY c.started, c.rowid;

-- name: files
-- The files that the calls of a run and its children made, oldest first.
SELECT c.files FROM tool_calls AS c JOIN runs AS r ON r.id = c.run
WHERE r.root = :root AND c.files <> '[]' ORDER BY c.ended, c.rowid;

-- name: family_words
-- What the user allowed or answered in a run, which counts as their own words.
SELECT result FROM tool_calls WHERE run = :run AND plan = 'ask' AND state = 'done';
