-- name: is_open
-- Whether a request waits, for its owner or its second approver.
SELECT 1 FROM requests AS r WHERE r.id = :request AND r.state = 'open'
  AND (r.account = :account OR EXISTS (SELECT 1 FROM seconds AS s WHERE s.request = r.id AND s.account = :account));

-- name: owner_of
-- Whose a request is.
SELECT account FROM requests WHERE id = :request;

-- name: open_codes
-- The requests that one word decides and that wait for an account in a thread: its own, and those it is the second for.
SELECT code FROM requests WHERE account = :account AND thread = :thread AND state = 'open' AND kind <> 'question'
UNION SELECT r.code FROM outbox AS o JOIN seconds AS s ON s.request = o.request JOIN requests AS r ON r.id = s.request
WHERE o.account = :account AND o.thread = :thread AND s.account = :account AND r.state = 'open';

-- name: mail_refs
-- The stored mails of a request: itself and its reminder.
SELECT ref FROM outbox WHERE request = :request AND ref IS NOT NULL;

-- name: request_of
-- The open request that a stored mail shows.
SELECT requests.id FROM outbox JOIN requests ON requests.id = outbox.request
WHERE outbox.account = :account AND outbox.ref = :ref AND requests.state = 'open';

-- name: started_by
-- The unfinished run that a stored mail began.
SELECT id FROM runs WHERE account = :account AND message = :ref AND depth = 0 AND ended IS NULL LIMIT 1;

-- name: knows_thread
-- Whether anything ever ran in a thread.
SELECT 1 FROM runs WHERE account = :account AND thread = :thread LIMIT 1;

-- name: newest
-- The Message-ID of the newest mail to the user in a thread, delivered or about to be.
SELECT message_id FROM outbox
WHERE account = :account AND thread = :thread AND kind NOT IN ('mail', 'activity', 'automation', 'memory') AND state <> 'withdrawn'
ORDER BY rowid DESC LIMIT 1;

-- name: request_of_message
-- The open request that a mail of ours with this Message-ID shows.
SELECT requests.id FROM outbox JOIN requests ON requests.id = outbox.request
WHERE outbox.account = :account AND outbox.message_id = :message_id AND requests.state = 'open';

-- name: started_by_message
-- The unfinished run that a mail with this Message-ID began or was fed to.
SELECT runs.id FROM runs JOIN letters ON letters.run = runs.id AND letters.account = runs.account
WHERE runs.account = :account AND runs.depth = 0 AND runs.ended IS NULL
  AND json_extract(letters.body, '$.message_id') = :message_id LIMIT 1;

-- name: known_refs
-- Those of these stored mails that are mails of ours, or that began a run which has not ended.
SELECT ref FROM outbox WHERE account = :account AND ref IN (SELECT value FROM json_each(:refs))
UNION SELECT message FROM runs
WHERE account = :account AND ended IS NULL AND message IN (SELECT value FROM json_each(:refs));

-- name: known_ids
-- Those of these Message-IDs that are of mails of ours.
SELECT message_id FROM own_ids WHERE account = :account AND message_id IN (SELECT value FROM json_each(:ids))
UNION SELECT j.value FROM json_each(:ids) AS j CROSS JOIN outbox ON outbox.message_id = j.value
WHERE +outbox.account = :account;

-- name: known_letters
-- Those of these Message-IDs that are of letters to a run which has not ended. Looks at each such run.
SELECT json_extract(letters.body, '$.message_id') FROM runs
JOIN letters ON letters.run = runs.id AND letters.account = runs.account
WHERE runs.account = :account AND runs.depth = 0 AND runs.ended IS NULL
  AND json_extract(letters.body, '$.message_id') IN (SELECT value FROM json_each(:ids));

-- name: known_threads
-- Those of these threads in which anything ever ran, or of which anything else is kept.
SELECT thread FROM runs WHERE account = :account AND thread IN (SELECT value FROM json_each(:threads))
UNION SELECT thread FROM outbox WHERE account = :account AND thread IN (SELECT value FROM json_each(:threads))
UNION SELECT thread FROM forks WHERE account = :account AND thread IN (SELECT value FROM json_each(:threads))
UNION SELECT thread FROM titles WHERE account = :account AND thread IN (SELECT value FROM json_each(:threads));
