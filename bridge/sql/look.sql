-- name: runs
-- How many runs are in each state, of everybody.
SELECT state, count(*) AS n FROM runs GROUP BY state ORDER BY state;

-- name: requests
-- Everything that waits for a decision, oldest first.
SELECT r.code, r.title, r.kind, r.created, r.expires, a.name AS account FROM (
    SELECT code, json_extract(shown, '$.title') AS title, kind, created, expires, account FROM requests WHERE state = 'open'
) AS r JOIN accounts AS a ON a.id = r.account ORDER BY r.created;

-- name: outbox
-- How many outgoing mails are in each state; only those of kind "mail" leave the bridge.
SELECT CASE kind WHEN 'mail' THEN 'outside' ELSE 'inside' END AS way, state, count(*) AS n FROM outbox
GROUP BY way, state ORDER BY way, state;

-- name: newest
-- The newest mails of a mailbox.
SELECT uid FROM placement WHERE mailbox = :mailbox ORDER BY uid DESC LIMIT :count;

-- name: threads
-- Every thread of an account in which anything ever ran.
SELECT DISTINCT thread FROM runs WHERE account = :account;
