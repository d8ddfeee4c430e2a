-- name: add
-- Queues a mail; its key can never come again.
INSERT INTO outbox (key, kind, account, agent, thread, run, call, request, message_id, body, series, taint, state, next_at, created, updated)
VALUES (:key, :kind, :account, :agent, :thread, :run, :call, :request, :message_id, :body, :series, :taint, 'queued', :now, :now, :now)
ON CONFLICT (key) DO NOTHING;

-- name: own_id
-- Remembers a Message-ID of ours.
INSERT INTO own_ids (account, message_id, key) VALUES (:account, :message_id, :key) ON CONFLICT DO NOTHING;

-- name: is_own
-- Whether a Message-ID is ours.
SELECT key FROM own_ids WHERE account = :account AND message_id = :message_id;

-- name: get
-- One mail.
SELECT * FROM outbox WHERE key = :key;

-- name: letters
-- Mails for the user's own mailboxes that wait, oldest first.
SELECT * FROM outbox WHERE kind <> 'mail' AND state = 'queued' ORDER BY rowid LIMIT :limit;

-- name: delivered
-- A mail for the user stands in their mailbox.
UPDATE outbox SET state = 'sent', ref = :ref, updated = :now WHERE key = :key AND kind <> 'mail' AND state = 'queued';

-- name: supersede_series
-- A newer state of the same Activity message makes waiting ones needless.
UPDATE outbox SET state = 'withdrawn', updated = :now WHERE series = :series AND key <> :key AND state = 'queued';

-- name: forget_series
-- Older states of an Activity message that are gone.
DELETE FROM outbox WHERE series = :series AND key <> :key AND state IN ('sent', 'withdrawn');

-- name: next_mail
-- The next mail for the relay.
SELECT * FROM outbox WHERE kind = 'mail' AND state = 'queued' AND next_at <= :now ORDER BY next_at, rowid LIMIT 1;

-- name: next_time
-- When the next mail for the relay is due.
SELECT min(next_at) FROM outbox WHERE kind = 'mail' AND state = 'queued';

-- name: phase
-- Moves a mail for the relay from one phase to the next.
UPDATE outbox SET state = :state, reply = :reply, next_at = :next_at, updated = :now,
                  attempt = attempt + CASE WHEN :state = 'sending' THEN 1 ELSE 0 END
WHERE key = :key AND kind = 'mail' AND state = :was;

-- name: of_call
-- The mail of a send_mail call.
SELECT * FROM outbox WHERE call = :call AND kind = 'mail';

-- name: withdraw
-- Takes back what a cancelled run has not handed over yet.
UPDATE outbox SET state = 'withdrawn', updated = :now WHERE run = :run AND kind = 'mail' AND state IN ('queued', 'sending');

-- name: unfinished
-- Mails that a dead start was sending.
SELECT * FROM outbox WHERE kind = 'mail' AND state IN ('sending', 'data_sent');

-- name: by_ref
-- The mail of ours that stands under a reference.
SELECT * FROM outbox WHERE account = :account AND ref = :ref;

-- name: last_of_thread
-- The newest mail to the user in a thread.
SELECT * FROM outbox WHERE account = :account AND thread = :thread AND kind NOT IN ('mail', 'activity', 'automation', 'memory') ORDER BY rowid DESC LIMIT 1;

-- name: sent_since
-- How many mails an agent has sent out since a time.
SELECT count(*) FROM outbox
WHERE account = :account AND agent = :agent AND kind = 'mail' AND updated >= :since AND state IN ('data_sent', 'sent', 'unknown');

-- name: know
-- Remembers that a mail went to an address.
INSERT INTO recipients (account, address, first) VALUES (:account, :address, :now) ON CONFLICT DO NOTHING;

-- name: known
-- Whether a mail ever went to an address.
SELECT 1 FROM recipients WHERE account = :account AND address = :address;

-- name: forget
-- Deletes the mails of a thread; their Message-IDs stay known as ours.
DELETE FROM outbox WHERE account = :account AND thread = :thread;

-- name: notices_since
-- How many notices of the program a thread had since a time.
SELECT count(*) FROM outbox WHERE account = :account AND thread = :thread AND kind = 'notice' AND created >= :since;
