-- name: arrivals
-- Mails that wait to be acted on.
SELECT count(*) FROM arrivals WHERE state = 'queued';

-- name: letters
-- Mails that wait for a user's mailbox.
SELECT count(*) FROM outbox WHERE kind <> 'mail' AND state = 'queued';

-- name: requests
-- Requests that wait for a decision.
SELECT count(*) FROM requests WHERE state = 'open';

-- name: accounts
-- Accounts.
SELECT count(*) FROM accounts;

-- name: runs
-- Runs by state.
SELECT state, count(*) AS n FROM runs GROUP BY state;
