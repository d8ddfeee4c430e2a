-- name: add
-- Keeps a note.
INSERT INTO notes (id, account, agent, text, about, taint, state, key, created, updated)
VALUES (:id, :account, :agent, :text, :about, :taint, 'active', :key, :now, :now);

-- name: get
-- One note.
SELECT * FROM notes WHERE id = :id;

-- name: of_account
-- The notes of an account, oldest first.
SELECT * FROM notes WHERE account = :account ORDER BY created, id;

-- name: seen_by
-- The notes that an agent may read: its own and those for everyone, the newest first.
SELECT * FROM notes WHERE account = :account AND agent IN (:agent, '') AND state = 'active' ORDER BY updated DESC, id DESC;

-- name: same
-- A note of the same words for the same agent.
SELECT * FROM notes WHERE account = :account AND agent = :agent AND text = :text AND state = 'active';

-- name: count
-- How many notes an account has, those in Trash included.
SELECT count(*) FROM notes WHERE account = :account;

-- name: by_key
-- The note that a call, or a mail, has made.
SELECT * FROM notes WHERE account = :account AND key = :key;

-- name: change
-- Other words for a note.
UPDATE notes SET text = :text, taint = :taint, updated = :now WHERE id = :id;

-- name: move
-- A note is set aside, or there again.
UPDATE notes SET state = :state WHERE id = :id AND state <> :state;

-- name: revise
-- Counts the messages of a note.
UPDATE notes SET revision = revision + 1 WHERE id = :id;

-- name: remove
-- Forgets a note.
DELETE FROM notes WHERE id = :id;

-- name: forget_mail
-- Forgets what was written to show a note.
DELETE FROM outbox WHERE series = :series;

-- name: withdraw
-- A message of a note that is not wanted any more.
UPDATE outbox SET state = 'withdrawn', updated = :now WHERE series = :series AND state = 'queued';

-- name: forget_account
-- Forgets everything of an account that is removed.
DELETE FROM notes WHERE account = :account;

-- name: is_on
-- Since when an account has memory; nothing when it has none.
SELECT since FROM memory WHERE account = :account;

-- name: turn_on
-- An account has memory from now on.
INSERT INTO memory (account, since) VALUES (:account, :now) ON CONFLICT DO NOTHING;

-- name: turn_off
-- An account has no memory any more; its notes stay.
DELETE FROM memory WHERE account = :account;
