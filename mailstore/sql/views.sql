-- name: of
-- The views of an account.
SELECT id, view FROM mailboxes WHERE account = :account AND view IS NOT NULL;

-- name: differing
-- Those of these messages whose views are not what they should be. Wanted is what the mailbox feeds, less Unread when
-- seen and Action when not open.
SELECT * FROM (
    SELECT e.id, e.shown, e.flags, e.size, m.feeds,
        m.feeds & (1 | ((~e.flags & 1) << 1) | (e.open << 2)) AS wanted
    FROM json_each(:emails) j
    CROSS JOIN email e ON e.id = j.value
    JOIN mailboxes m ON m.id = e.mailbox
) WHERE shown <> wanted ORDER BY id;

-- name: show
-- Notes that these messages stand in a view.
UPDATE email SET shown = shown | :bit WHERE id IN (SELECT value FROM json_each(:emails));

-- name: hide
-- Notes that these messages no longer stand in a view.
UPDATE email SET shown = shown & ~:bit WHERE id IN (SELECT value FROM json_each(:emails));

-- name: linger
-- Keeps a message in Unread that has been read there.
INSERT OR IGNORE INTO lingering (email, mailbox, modseq, at) VALUES (:email, :mailbox, :modseq, :at);

-- name: settle
-- Forgets that these messages linger.
DELETE FROM lingering WHERE email IN (SELECT value FROM json_each(:emails));

-- name: overdue
-- Messages that no session has watched since before they were read, or that were read long ago.
SELECT email FROM lingering
WHERE mailbox = :mailbox AND (modseq <= :watched OR at <= :until) ORDER BY email;

-- name: next-overdue
-- When the first lingering message was read.
SELECT min(at) FROM lingering;

-- name: lingering-views
-- The Unread views in which something lingers.
SELECT DISTINCT mailbox FROM lingering;

-- name: position
-- How far the account's changes have gone.
SELECT modseq FROM accounts WHERE id = :account;
