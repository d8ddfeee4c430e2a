-- name: find
-- A letter by its key, with the run it went to.
SELECT key, run, state FROM letters WHERE account = :account AND key = :key;

-- name: add
-- Keeps a letter; its key can never come again.
INSERT INTO letters (account, key, run, body, state, at) VALUES (:account, :key, :run, :body, :state, :now);

-- name: pending
-- Letters that wait for the next step of a run, oldest first.
SELECT rowid, body FROM letters WHERE run = :run AND state = 'pending' ORDER BY rowid;

-- name: count_pending
-- How many letters wait for a run.
SELECT count(*) FROM letters WHERE run = :run AND state = 'pending';

-- name: take
-- Marks the letters of a run as read by it.
UPDATE letters SET state = 'taken' WHERE run = :run AND state = 'pending';

-- name: hand_on
-- Gives the waiting letters of a run that ends to its successor.
UPDATE letters SET run = :successor WHERE run = :run AND state = 'pending';

-- name: forget
-- Keeps the keys of a thread's letters, and nothing else of them.
UPDATE letters SET body = '{}' WHERE run IN (SELECT id FROM runs WHERE account = :account AND thread = :thread);
