-- name: fork
-- A thread goes on from a mail of another one.
INSERT INTO forks (account, thread, origin, upto, subject, at) VALUES (:account, :thread, :origin, :upto, :subject, :now)
ON CONFLICT DO NOTHING;

-- name: forked
-- What a thread was forked from.
SELECT * FROM forks WHERE account = :account AND thread = :thread;

-- name: line
-- What a thread goes on from, and what that goes on from, as JSON for the questions about all of it: thread, and how far.
WITH RECURSIVE line (thread, upto, depth) AS (
    SELECT origin, upto, 1 FROM forks WHERE account = :account AND thread = :thread
    UNION ALL
    SELECT f.origin, f.upto, l.depth + 1 FROM forks AS f JOIN line AS l ON f.thread = l.thread
    WHERE f.account = :account AND l.depth < 20
)
SELECT json_group_array(json_object('thread', thread, 'upto', upto)) FROM line;

-- name: point
-- A mail of ours to the user as a point to go on from.
SELECT thread, agent, created, body FROM outbox
WHERE account = :account AND message_id = :message_id AND kind IN ('result', 'question', 'request', 'notice', 'failure', 'reminder');

-- name: newest_point
-- The newest mail of ours to the user in a thread.
SELECT thread, agent, created, body FROM outbox
WHERE account = :account AND thread = :thread AND kind IN ('result', 'question', 'request', 'notice', 'failure', 'reminder')
ORDER BY rowid DESC LIMIT 1;

-- name: call
-- Gives a thread a name of its own.
INSERT INTO titles (account, thread, title) VALUES (:account, :thread, :title)
ON CONFLICT (account, thread) DO UPDATE SET title = excluded.title;

-- name: title
-- The name that a thread was given.
SELECT title FROM titles WHERE account = :account AND thread = :thread;

-- name: forget_forks
-- The thread is forgotten, and that it was forked.
DELETE FROM forks WHERE account = :account AND thread = :thread;

-- name: forget_title
-- The thread is forgotten with its name.
DELETE FROM titles WHERE account = :account AND thread = :thread;
