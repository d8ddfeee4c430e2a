-- name: add
-- Puts a trigger down; its key can never come again.
INSERT INTO triggers (id, account, agent, thread, act, kind, name, spec, zone, title, text, said, late, overlap, taint, state,
                      due_at, due_key, wake_at, key, created, updated)
VALUES (:id, :account, :agent, :thread, :act, :kind, :name, :spec, :zone, :title, :text, :said, :late, :overlap, :taint,
        'active', :due_at, :due_key, :due_at, :key, :now, :now)
ON CONFLICT (account, key) DO NOTHING;

-- name: get
-- One trigger.
SELECT * FROM triggers WHERE id = :id;

-- name: by_key
-- The trigger that a call put down.
SELECT * FROM triggers WHERE account = :account AND key = :key;

-- name: all
-- The triggers of an account that are not over, oldest first.
SELECT * FROM triggers WHERE account = :account AND state <> 'done' ORDER BY created, id;

-- name: count
-- How many triggers of an account are not over.
SELECT count(*) FROM triggers WHERE account = :account AND state NOT IN ('done', 'off');

-- name: of_thread
-- The triggers that stand in a thread and are not over.
SELECT * FROM triggers WHERE account = :account AND thread = :thread AND state <> 'done' ORDER BY created, id;

-- name: next_time
-- The next moment at which a trigger wants the clock.
SELECT min(wake_at) FROM triggers WHERE wake_at IS NOT NULL;

-- name: due
-- Triggers whose time has come, the most overdue first.
SELECT id FROM triggers WHERE wake_at <= :now ORDER BY wake_at, id;

-- name: waiting_long
-- Active triggers whose next time lies ahead.
SELECT * FROM triggers WHERE state = 'active' AND due_at > :now;

-- name: move
-- Sets the next time of a trigger, and with none ends it.
UPDATE triggers SET state = :state, due_at = :due_at, due_key = :due_key, wake_at = :wake_at, attempts = 0, updated = :now
WHERE id = :id;

-- name: note
-- Remembers what came of the last time.
UPDATE triggers SET last_at = :now, last = :last, fired = fired + :fired, updated = :now WHERE id = :id;

-- name: attempt
-- Counts a try that failed, and when the next one is.
UPDATE triggers SET attempts = attempts + 1, wake_at = :wake_at, updated = :now WHERE id = :id;

-- name: revise
-- The number of the trigger's next message.
UPDATE triggers SET revision = revision + 1 WHERE id = :id;

-- name: delete
-- Deletes a trigger with its times.
DELETE FROM triggers WHERE id = :id;

-- name: forget
-- Deletes every trigger of an account.
DELETE FROM triggers WHERE account = :account;

-- name: named
-- The webhook, hook or watched mailbox of a name.
SELECT * FROM triggers WHERE account = :account AND kind = :kind AND name = :name;

-- name: of_kind
-- Every active trigger of a kind.
SELECT * FROM triggers WHERE kind = :kind AND state = 'active' ORDER BY created, id;

-- name: keep_secret
-- A trigger's secret, as a salted hash; a new one takes the place of the old.
INSERT INTO trigger_secrets (trigger, salt, hash, made) VALUES (:trigger, :salt, :hash, :now)
ON CONFLICT (trigger) DO UPDATE SET salt = excluded.salt, hash = excluded.hash, made = excluded.made;

-- name: secret
-- The salted hash of a trigger's secret.
SELECT salt, hash, made FROM trigger_secrets WHERE trigger = :trigger;

-- name: deliver
-- Takes what came to a trigger, once for its key; it waits for its run.
INSERT INTO fires (trigger, key, due, at, state, run, hash, letter)
VALUES (:trigger, :key, :due, :now, :state, :run, :hash, :letter) ON CONFLICT DO NOTHING;

-- name: delivered
-- What became of what came under a key.
SELECT * FROM fires WHERE trigger = :trigger AND key = :key;

-- name: delivered_lately
-- The same, come lately without a key of its own.
SELECT * FROM fires
WHERE trigger = :trigger AND hash = :hash AND hash <> '' AND at >= :since AND key LIKE 'body.%' ORDER BY at LIMIT 1;

-- name: lately
-- How often a trigger was set off lately.
SELECT count(*) FROM fires WHERE trigger = :trigger AND at >= :since;

-- name: line_end
-- The place of the last that waits: what comes next stands behind it, also in the same millisecond.
SELECT max(due) FROM fires INDEXED BY fires_waiting WHERE trigger = :trigger AND state = 'waiting';

-- name: how_many_wait
-- How much of what came waits for a run.
SELECT count(*) FROM fires INDEXED BY fires_waiting WHERE trigger = :trigger AND state = 'waiting';

-- name: take_back
-- What was given up may come again.
DELETE FROM fires WHERE trigger = :trigger AND key = :key AND state = 'failed';

-- name: give_up
-- What waits is not done: the trigger could not begin it.
UPDATE fires SET state = 'failed', letter = NULL WHERE trigger = :trigger AND state = 'waiting';

-- name: pass_over
-- A newer one takes the place of what waits.
UPDATE fires SET state = 'skipped', letter = NULL WHERE trigger = :trigger AND state = 'waiting';

-- name: fire
-- Takes one time of a trigger; the same local minute never comes again.
INSERT INTO fires (trigger, key, due, at, state, run) VALUES (:trigger, :key, :due, :now, :state, NULL) ON CONFLICT DO NOTHING;

-- name: fired
-- What came of one time.
UPDATE fires SET state = :state, run = :run, letter = NULL WHERE trigger = :trigger AND key = :key;

-- name: has_fired
-- Whether a time was taken.
SELECT 1 FROM fires WHERE trigger = :trigger AND key = :key;

-- name: under_way
-- The unfinished run of a trigger: one of the few that its thread has.
SELECT r.id FROM triggers AS t
CROSS JOIN runs AS r INDEXED BY runs_open ON r.account = t.account AND r.thread = t.thread AND r.ended IS NULL
JOIN fires AS f ON f.run = r.id AND f.trigger = t.id
WHERE t.id = :trigger LIMIT 1;

-- name: waiting
-- The time of a trigger that waits until its run has ended.
SELECT * FROM fires INDEXED BY fires_waiting WHERE trigger = :trigger AND state = 'waiting' ORDER BY due LIMIT 1;

-- name: of_run
-- The trigger that began a run.
SELECT t.* FROM fires AS f JOIN triggers AS t ON t.id = f.trigger WHERE f.run = :run;

-- name: forget_fires
-- Times long past, whose keys cannot come again.
DELETE FROM fires WHERE trigger = :trigger AND at < :before AND state <> 'waiting';

-- name: own_key
-- The key of a mail of ours by its Message-ID.
SELECT key FROM own_ids WHERE account = :account AND message_id = :message_id;

-- name: withdraw
-- Takes back messages of a trigger that were not delivered yet.
UPDATE outbox SET state = 'withdrawn', updated = :now WHERE series = :series AND state = 'queued';

-- name: fire_state
-- What came of one time.
SELECT state FROM fires WHERE trigger = :trigger AND key = :key;
