-- name: of
-- The views of an account.
SELECT id, view FROM mailboxes WHERE account = :account AND view IS NOT NULL;

-- name: differing
-- Those of these messages whose views are not what they should be. Wanted is what the mailbox feeds, less Unread when
-- seen and Action when not open.
SELECT json_group_array(email), json_group_array(key), json_group_array(size), json_group_array(in_all),
    json_group_array(in_unread), json_group_array(in_action), json_group_array(feeds), json_group_array(wanted)
FROM (
    SELECT s.email, s.flags | (s.keywords << 6) AS key, s.size, s.in_all, s.in_unread, s.in_action, m.feeds,
        (s.in_all > 0) | ((s.in_unread > 0) << 1) | ((s.in_action > 0) << 2) AS shown,
        m.feeds & (1 | ((~s.flags & 1) << 1) | (s.open << 2)) AS wanted
    FROM json_each(:emails) j
    CROSS JOIN state s ON s.email = j.value
    JOIN mailboxes m ON m.id = s.mailbox
) WHERE shown <> wanted;

-- name: show
-- Notes that these messages stand in a view, under ascending UIDs.
UPDATE state SET in_all = iif(:bit = 1, :uid + j.key, in_all), in_unread = iif(:bit = 2, :uid + j.key, in_unread),
    in_action = iif(:bit = 4, :uid + j.key, in_action)
FROM json_each(:emails) j WHERE state.email = j.value;

-- name: hide
-- Notes that these messages no longer stand in a view.
UPDATE state SET in_all = iif(:bit = 1, 0, in_all), in_unread = iif(:bit = 2, 0, in_unread),
    in_action = iif(:bit = 4, 0, in_action)
WHERE email IN (SELECT value FROM json_each(:emails));

-- name: marked
-- How many are \Deleted in a view.
SELECT deleted FROM mailboxes WHERE id = :mailbox;

-- name: linger
-- Keeps messages in Unread that have been read there.
INSERT OR IGNORE INTO lingering (email, mailbox, modseq, at)
SELECT value, :mailbox, :modseq, :at FROM json_each(:emails);

-- name: settle
-- Forgets that these messages linger.
DELETE FROM lingering WHERE email IN (SELECT value FROM json_each(:emails));

-- name: overdue
-- Messages that no session has watched since before they were read, or that were read long ago.
SELECT json_group_array(l.email), json_group_array(s.in_unread), json_group_array(s.flags | (s.keywords << 6)),
    json_group_array(s.size)
FROM lingering l CROSS JOIN state s ON s.email = l.email
WHERE l.mailbox = :mailbox AND (l.modseq <= :watched OR l.at <= :until);

-- name: next-overdue
-- When the first lingering message was read.
SELECT min(at) FROM lingering;

-- name: lingering-views
-- The Unread views in which something lingers.
SELECT DISTINCT mailbox FROM lingering;

-- name: position
-- How far the account's changes have gone.
SELECT modseq FROM accounts WHERE id = :account;
