-- name: add
-- Adds a row to the trail.
INSERT INTO audit (at, account, what, run, subject, facts) VALUES (:at, :account, :what, :run, :subject, :facts);

-- name: of_account
-- The newest rows of an account.
SELECT seq, at, what, run, subject, facts FROM audit WHERE account = :account ORDER BY seq DESC LIMIT :limit;

-- name: of_code
-- What concerns the request of a code: its revisions, its items, their calls, and the mails that these sent.
WITH asked AS (SELECT id FROM requests WHERE account = :account AND code = :code),
     items AS (SELECT id, call FROM approvals WHERE request IN (SELECT id FROM asked))
SELECT seq, at, what, run, subject, facts FROM audit
WHERE account = :account AND subject IN (
    SELECT id FROM asked UNION SELECT id FROM items UNION SELECT call FROM items
    UNION SELECT key FROM outbox WHERE call IN (SELECT call FROM items)
) ORDER BY seq;

-- name: arguments
-- The items of a request's revisions, with their arguments as long as these are the ones that were asked about.
SELECT r.revision, a.number, c.tool, a.args_hash, a.state, CASE WHEN c.args_hash = a.args_hash THEN c.args END AS args
FROM requests AS r JOIN approvals AS a ON a.request = r.id JOIN tool_calls AS c ON c.id = a.call
WHERE r.account = :account AND r.code = :code ORDER BY r.revision, r.rowid, a.number;
