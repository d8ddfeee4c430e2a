-- name: ask
-- A request goes out, under a token of its own.
INSERT INTO outside_asks (request, account, key, token, created) VALUES (:request, :account, :key, :token, :now)
ON CONFLICT (request) DO NOTHING;

-- name: queue
-- A mail to the user's real address; the same again is the same one.
INSERT INTO outside_mail (account, kind, request, key, recipient, subject, body, in_reply_to, next_at, created)
VALUES (:account, :kind, :request, :key, :recipient, :subject, :body, :in_reply_to, :now, :now)
ON CONFLICT (request, kind, in_reply_to, key) DO NOTHING;

-- name: due
-- The next mail to send, with the token and the shown mail of what it asks.
SELECT m.*, a.token, a.key AS asked FROM outside_mail AS m LEFT JOIN outside_asks AS a ON a.request = m.request
WHERE m.state = 'queued' AND m.next_at <= :now ORDER BY m.next_at, m.id LIMIT 1;

-- name: next_time
-- When the next mail is due.
SELECT min(next_at) FROM outside_mail WHERE state = 'queued';

-- name: settle
-- What became of a try to send.
UPDATE outside_mail SET state = :state, reply = :reply, next_at = :next_at, attempts = attempts + 1
WHERE id = :id AND state = 'queued';

-- name: by_token
-- The request that went out under a token.
SELECT * FROM outside_asks WHERE token = :token AND account = :account;

-- name: claim
-- Takes an undecided request for one answer, once.
UPDATE outside_asks SET claimed = :now, claimed_by = :by
WHERE token = :token AND account = :account AND claimed IS NULL
  AND (SELECT state FROM requests WHERE id = outside_asks.request) = 'open';

-- name: release
-- The answer decided nothing, or not everything: the request may be answered again.
UPDATE outside_asks SET claimed = NULL, claimed_by = NULL
WHERE request = :request AND (SELECT state FROM requests WHERE id = outside_asks.request) = 'open';

-- name: see
-- Notes a signature; nothing when it was seen before.
INSERT INTO outside_seen (account, signature, at) VALUES (:account, :signature, :now) ON CONFLICT DO NOTHING;

-- name: answered
-- Somebody proven wrote from outside about a request.
UPDATE outside_asks SET answered_by = :by, answered_id = :message_id, answered_at = :now WHERE request = :request;

-- name: heard
-- Who wrote last from outside about a run, or about what it handed on.
WITH RECURSIVE family (id) AS (SELECT :run UNION ALL SELECT r.id FROM family AS f JOIN runs AS r ON r.parent = f.id)
SELECT a.answered_by, a.answered_id FROM family AS f JOIN requests AS q ON q.run = f.id JOIN outside_asks AS a ON a.request = q.id
WHERE a.answered_by IS NOT NULL ORDER BY a.answered_at DESC LIMIT 1;

-- name: lately
-- How many mails of a kind went to the real address lately.
SELECT count(*) FROM outside_mail WHERE account = :account AND kind = :kind AND created >= :since;

-- name: noted_since
-- How many mails in doubt were noted lately: those that held a token of a request, or those that held none.
SELECT count(*) FROM audit
WHERE account = :account AND what = 'outside.refused' AND at >= :since AND (subject IS NOT NULL) = :named;

-- name: told_since
-- How many notices of a series, by the beginning of its keys, were queued lately.
SELECT count(*) FROM outbox WHERE key >= :first AND key < :first || '~' AND created >= :since;

-- name: place
-- How far a mailbox was read.
SELECT uidvalidity, next_uid FROM watched WHERE mailbox = :mailbox;

-- name: read_to
-- The mailbox was read up to here.
INSERT INTO watched (mailbox, uidvalidity, next_uid) VALUES (:mailbox, :uidvalidity, :next_uid)
ON CONFLICT (mailbox) DO UPDATE SET uidvalidity = excluded.uidvalidity, next_uid = excluded.next_uid;

-- name: places
-- How many mailboxes are watched.
SELECT count(*) FROM watched;

-- name: forget_places
-- A mailbox is not watched any more: what comes meanwhile counts for nothing.
DELETE FROM watched WHERE substr(mailbox, 1, length(:mailbox)) = :mailbox;
