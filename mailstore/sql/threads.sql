-- name: new
INSERT INTO thread (account) VALUES (:account);

-- name: ensure
-- Makes a thread that was forgotten with its last message appear again.
INSERT OR IGNORE INTO thread (id, account) VALUES (:thread, :account);

-- name: account
SELECT account FROM thread WHERE id = :thread;

-- name: by-message-id
-- The thread of the newest message of this id in the account.
SELECT e.thread FROM content c CROSS JOIN email e INDEXED BY email_content ON e.content = c.id AND e.account = :account
WHERE c.message_id = :message_id AND e.id NOT IN (SELECT email FROM destroyed) ORDER BY e.id DESC LIMIT 1;

-- name: by-alias
SELECT thread FROM alias WHERE account = :account AND alias = :alias;

-- name: alias
-- The first thread to be known by an alias keeps it.
INSERT OR IGNORE INTO alias (account, alias, thread) VALUES (:account, :alias, :thread);

-- name: messages
SELECT id FROM email WHERE thread = :thread AND id NOT IN (SELECT email FROM destroyed) ORDER BY id;

-- name: forget-empty
-- Threads that have lost their last message go, unless somebody has given them another name since; what others know of
-- them by their id is for others to forget.
DELETE FROM thread WHERE id IN (SELECT value FROM json_each(:threads))
AND NOT EXISTS (SELECT 1 FROM email e WHERE e.thread = thread.id)
AND NOT EXISTS (SELECT 1 FROM alias a WHERE a.thread = thread.id);

-- name: forget-aliases
-- The other names of threads that have lost their last message with these.
DELETE FROM alias WHERE account = :account
AND thread IN (SELECT e.thread FROM json_each(:emails) j CROSS JOIN email e ON e.id = j.value)
AND NOT EXISTS (
    SELECT 1 FROM email e WHERE e.thread = alias.thread AND e.id NOT IN (SELECT email FROM destroyed)
);
