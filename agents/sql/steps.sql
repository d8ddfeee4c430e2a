-- name: add
-- Appends to a run's journal.
INSERT INTO steps (run, seq, kind, body, at) VALUES (:run, :seq, :kind, :body, :now);

-- name: next
-- The number of the next journal entry.
SELECT coalesce(max(seq), -1) + 1 FROM steps WHERE run = :run;

-- name: of_run
-- A run's journal.
SELECT seq, kind, body, at FROM steps WHERE run = :run ORDER BY seq;

-- name: last
-- The newest journal entries, newest first.
SELECT seq, kind, body, at FROM steps WHERE run = :run ORDER BY seq DESC LIMIT :limit;

-- name: users
-- What users said in a run.
SELECT seq, body FROM steps WHERE run = :run AND kind = 'user' ORDER BY seq;

-- name: thread_users
-- What users said in a thread to an agent, and in those that it was forked from, up to the mail that it goes on from.
SELECT s.body FROM steps AS s JOIN runs AS r ON r.id = s.run
WHERE r.account = :account AND r.depth = 0 AND s.kind = 'user'
  AND (r.thread = :thread OR EXISTS (SELECT 1 FROM json_each(:line) AS l
                                     WHERE json_extract(l.value, '$.thread') = r.thread AND s.at <= json_extract(l.value, '$.upto')))
ORDER BY r.rowid, s.seq;
