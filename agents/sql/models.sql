-- name: reserve
-- Notes a model call before it is made, with what it may cost.
INSERT INTO model_calls (id, run, seq, attempt, state, day, model, endpoint, reserved_u, reserved_t, purpose, created)
VALUES (:id, :run, :seq, :attempt, 'reserved', :day, :model, :endpoint, :reserved_u, :reserved_t, :purpose, :now);

-- name: get
-- One model call.
SELECT * FROM model_calls WHERE id = :id;

-- name: settle
-- Notes what came of a model call.
UPDATE model_calls SET state = :state, tok_in = :tok_in, tok_out = :tok_out, cost_u = :cost_u, fault = :fault, text = :text,
                       retry_at = :retry_at, ended = :now
WHERE id = :id AND state = 'reserved';

-- name: last
-- The newest call made for a run.
SELECT state, fault, model FROM model_calls WHERE run = :run ORDER BY rowid DESC LIMIT 1;

-- name: tries
-- The calls made for one journal entry, oldest first.
SELECT * FROM model_calls WHERE run = :run AND seq = :seq ORDER BY attempt;

-- name: open_of_run
-- Calls of a run that were never settled.
SELECT id FROM model_calls WHERE run = :run AND state = 'reserved';

-- name: of_run
-- Every call made for a run, oldest first.
SELECT * FROM model_calls WHERE run = :run ORDER BY rowid;

-- name: progress
-- How much of its answer a model has given.
UPDATE model_calls SET progress = :progress WHERE id = :id AND state = 'reserved';

-- name: hurry
-- Lets the next try begin now.
UPDATE model_calls SET retry_at = :now WHERE run = :run AND state = 'failed' AND retry_at > :now;

-- name: endpoints
-- Who has received data in a family of runs, and which models answered.
SELECT DISTINCT m.endpoint, m.model FROM model_calls AS m JOIN runs AS r ON r.id = m.run WHERE r.root = :root ORDER BY m.endpoint, m.model;

-- name: empty_summaries
-- How many summaries of a run had not a word in them.
SELECT (SELECT count(*) FROM model_calls WHERE run = :run AND purpose = 'compact' AND state = 'done')
     - (SELECT count(*) FROM steps WHERE run = :run AND kind = 'compact');
