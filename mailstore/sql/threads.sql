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
WHERE c.message_id = :message_id ORDER BY e.id DESC LIMIT 1;

-- name: by-alias
SELECT thread FROM alias WHERE account = :account AND alias = :alias;

-- name: alias
-- The first thread to be known by an alias keeps it.
INSERT OR IGNORE INTO alias (account, alias, thread) VALUES (:account, :alias, :thread);

-- name: messages
SELECT id FROM email WHERE thread = :thread ORDER BY id;

-- name: forget-empty
-- Threads that have lost their last message go; what others know of them by their id is for others to forget.
DELETE FROM thread WHERE id IN (SELECT value FROM json_each(:threads))
AND NOT EXISTS (SELECT 1 FROM email e WHERE e.thread = thread.id);

-- name: forget-aliases
DELETE FROM alias WHERE account = :account AND thread IN (SELECT value FROM json_each(:threads))
AND NOT EXISTS (SELECT 1 FROM email e WHERE e.thread = alias.thread);
