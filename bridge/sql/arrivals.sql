-- name: add
-- Keeps that a mail came in and has to be acted on.
INSERT INTO arrivals (account, email, kind, recipients, key, raw_hash, via, at)
VALUES (:account, :email, :kind, :recipients, :key, :raw_hash, :via, :at);

-- name: same
-- Every row of a mail that came in before, with whom it was for: its own key, and those of later tries.
SELECT id, email, recipients FROM arrivals
WHERE account = :account AND (key = :key OR (key > :key || '#' AND key < :key || '$'));

-- name: recent
-- The same bytes, lately: how a retry of a mail without a Message-ID is known.
SELECT key FROM arrivals WHERE account = :account AND raw_hash = :raw_hash AND at >= :since ORDER BY at LIMIT 1;

-- name: queued
-- What waits to be acted on, oldest first.
SELECT id, account, email, kind, recipients, key, via, at, attempts FROM arrivals
WHERE state = 'queued' ORDER BY id LIMIT :limit;

-- name: state
-- The state of one row.
SELECT state FROM arrivals WHERE id = :id;

-- name: finish
-- Ends a row; a row that has ended stays as it is.
UPDATE arrivals SET state = :state WHERE id = :id AND state = 'queued';

-- name: attempt
-- Counts a try that failed, so that a mail which cannot be read is not tried for ever.
UPDATE arrivals SET attempts = attempts + 1 WHERE id = :id;

-- name: waiting
-- How many mails wait to be acted on.
SELECT count(*) FROM arrivals WHERE state = 'queued';

-- name: kind
-- How a stored mail came in, if it did.
SELECT kind FROM arrivals WHERE account = :account AND email = :email ORDER BY id LIMIT 1;
