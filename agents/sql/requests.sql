-- name: add
-- Opens a request.
INSERT INTO requests (id, account, run, agent, thread, kind, code, token, revision, grantable, state, shown, key, created, expires, remind_at)
VALUES (:id, :account, :run, :agent, :thread, :kind, :code, :token, :revision, :grantable, 'open', :shown, :key, :now, :expires, :remind_at);

-- name: add_item
-- One call of a request.
INSERT INTO approvals (id, request, call, number, revision, args_hash, def_hash, state)
VALUES (:id, :request, :call, :number, :revision, :args_hash, :def_hash, 'pending');

-- name: get
-- A request of an account.
SELECT * FROM requests WHERE id = :request AND account = :account;

-- name: by_token
-- A request by its secret.
SELECT * FROM requests WHERE token = :token AND account = :account;

-- name: by_code
-- The newest request with a code; an open one before all others.
SELECT * FROM requests WHERE code = :code AND account = :account ORDER BY (state = 'open') DESC, rowid DESC LIMIT 1;

-- name: by_message
-- The request that a mail of ours showed.
SELECT r.* FROM outbox AS o JOIN requests AS r ON r.id = o.request WHERE o.message_id = :message_id AND o.account = :account AND r.account = :account;

-- name: newest
-- The newest revision of a request's code.
SELECT * FROM requests WHERE code = :code AND account = :account ORDER BY revision DESC, rowid DESC LIMIT 1;

-- name: code_taken
-- Whether a code was ever used in an account.
SELECT 1 FROM requests WHERE code = :code AND account = :account;

-- name: open_count
-- How many requests of an account wait.
SELECT count(*) FROM requests WHERE account = :account AND state = 'open';

-- name: open_of_account
-- The requests of an account that wait, oldest first.
SELECT * FROM requests WHERE account = :account AND state = 'open' ORDER BY rowid;

-- name: open_of_run
-- The requests of a run that wait.
SELECT * FROM requests WHERE run = :run AND state = 'open' ORDER BY rowid;

-- name: of_run
-- Every request that a run made, oldest first.
SELECT * FROM requests WHERE run = :run ORDER BY rowid;

-- name: close
-- Ends a request, once.
UPDATE requests SET state = :state, decided = :now, by = :by, via = :via, remind_at = NULL WHERE id = :request AND state = 'open';

-- name: items
-- The items of a request, as numbered in its mail.
SELECT a.*, c.tool, c.run AS run, c.state AS call_state FROM approvals AS a JOIN tool_calls AS c ON c.id = a.call
WHERE a.request = :request ORDER BY a.number;

-- name: decide_item
-- Decides one item, if nobody has.
UPDATE approvals SET state = :state, comment = :comment, by = :by, via = :via, decided = :now WHERE id = :id AND state = 'pending';

-- name: revision_of
-- The newest revision of a call's approvals.
SELECT max(revision) FROM approvals WHERE call = :call;

-- name: spend
-- Spends an approval, once, for exactly what was approved: by both, where two were asked or are wanted now.
UPDATE approvals SET spent_at = :now
WHERE call = :call AND spent_at IS NULL AND state = 'approved' AND args_hash = :args_hash AND def_hash = :def_hash
  AND revision = (SELECT max(revision) FROM approvals WHERE call = :call)
  AND ((:two = 0 AND NOT EXISTS (SELECT 1 FROM seconds WHERE request = approvals.request))
       OR (SELECT count(*) FROM votes WHERE item = approvals.id) = 2);

-- name: supersede
-- An approval that no longer fits what would run is worth nothing.
UPDATE approvals SET state = 'superseded', decided = coalesce(decided, :now)
WHERE call = :call AND state IN ('pending', 'approved') AND spent_at IS NULL;

-- name: due
-- Requests whose time is over.
SELECT * FROM requests WHERE state = 'open' AND expires <= :now;

-- name: to_remind
-- Requests to repeat once.
SELECT * FROM requests WHERE state = 'open' AND remind_at <= :now AND expires > :now;

-- name: reminded
-- A reminder went out.
UPDATE requests SET remind_at = NULL WHERE id = :request;

-- name: next_time
-- The next moment at which a request wants the clock.
SELECT min(at) FROM (SELECT min(expires) AS at FROM requests WHERE state = 'open'
                     UNION ALL SELECT min(remind_at) FROM requests WHERE state = 'open');

-- name: of_call
-- The newest request that showed a call.
SELECT r.* FROM approvals AS a JOIN requests AS r ON r.id = a.request WHERE a.call = :call ORDER BY a.revision DESC LIMIT 1;

-- name: forget
-- Deletes the requests of a thread and their items.
DELETE FROM requests WHERE account = :account AND thread = :thread;
