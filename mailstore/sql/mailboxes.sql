-- name: all
SELECT m.*, s.name IS NOT NULL AS subscribed
FROM mailboxes m LEFT JOIN subscription s ON s.account = m.account AND s.name = m.name
WHERE m.account = :account ORDER BY m.id;

-- name: get
SELECT m.*, s.name IS NOT NULL AS subscribed
FROM mailboxes m LEFT JOIN subscription s ON s.account = m.account AND s.name = m.name
WHERE m.id = :mailbox;

-- name: find
SELECT m.*, s.name IS NOT NULL AS subscribed
FROM mailboxes m LEFT JOIN subscription s ON s.account = m.account AND s.name = m.name
WHERE m.account = :account AND m.name = :name;

-- name: by-role
-- The first made of a role: the standard one, not a folder below it.
SELECT m.*, s.name IS NOT NULL AS subscribed
FROM mailboxes m LEFT JOIN subscription s ON s.account = m.account AND s.name = m.name
WHERE m.account = :account AND m.role = :role AND m.view IS NULL ORDER BY m.id LIMIT 1;

-- name: by-view
SELECT m.*, s.name IS NOT NULL AS subscribed
FROM mailboxes m LEFT JOIN subscription s ON s.account = m.account AND s.name = m.name
WHERE m.account = :account AND m.view = :view;

-- name: below
-- The mailboxes whose names begin with this one and a slash, top down.
SELECT m.*, s.name IS NOT NULL AS subscribed
FROM mailboxes m LEFT JOIN subscription s ON s.account = m.account AND s.name = m.name
WHERE m.account = :account AND substr(m.name, 1, length(:name) + 1) = :name || '/' ORDER BY m.name;

-- name: has-below
-- Whether there are any. The character behind the slash is 0, so the index on names finds it.
SELECT EXISTS (SELECT 1 FROM mailboxes WHERE account = :account AND name > :name || '/' AND name < :name || '0');

-- name: number
SELECT count(*) FROM mailboxes WHERE account = :account;

-- name: status
SELECT messages, recent, unseen, deleted, uidnext, uidvalidity, highest_modseq, size, deleted_size, recent_from
FROM mailboxes WHERE id = :mailbox;

-- name: next-uidvalidity
-- Rises with the clock and never repeats in this store, whatever the clock does.
UPDATE meta SET value = max(value + 1, :seconds) WHERE name = 'uidvalidity' RETURNING value;

-- name: create
INSERT INTO mailboxes (account, name, role, view, special_use, feeds, selectable, uidvalidity, highest_modseq)
VALUES (:account, :name, :role, :view, :special_use, :feeds, :selectable, :uidvalidity, :modseq);

-- name: rename
UPDATE mailboxes SET name = :name, role = :role, feeds = :feeds WHERE id = :mailbox;

-- name: revive
-- A name that only held others becomes a mailbox, with a new UIDVALIDITY.
UPDATE mailboxes SET selectable = 1, role = :role, feeds = :feeds, special_use = :special_use,
    uidvalidity = :uidvalidity, highest_modseq = :modseq
WHERE id = :mailbox;

-- name: hollow
-- A mailbox becomes a name that only holds others.
UPDATE mailboxes SET selectable = 0, role = 'parent', feeds = 0, special_use = NULL WHERE id = :mailbox;

-- name: delete
DELETE FROM mailboxes WHERE id = :mailbox;

-- name: delete-annotations
DELETE FROM annotation WHERE account = :account AND kind = 'mailbox' AND target = :mailbox;

-- name: subscribe
INSERT OR IGNORE INTO subscription (account, name) VALUES (:account, :name);

-- name: unsubscribe
DELETE FROM subscription WHERE account = :account AND name = :name;

-- name: subscriptions
SELECT name FROM subscription WHERE account = :account ORDER BY name;

-- name: emails
-- The messages of a mailbox.
SELECT id FROM email WHERE id IN (SELECT email FROM placement WHERE mailbox = :mailbox) ORDER BY id;
