-- name: log
-- What happened in a mailbox after a modseq: its own rows, and the account's rows about flags.
SELECT modseq, kind, first, last FROM log
WHERE account = :account AND mailbox = :mailbox AND modseq > :modseq
UNION ALL
SELECT modseq, kind, first, last FROM log
WHERE account = :account AND mailbox = 0 AND modseq > :modseq
ORDER BY modseq;

-- name: uids-of
-- Which UIDs of a mailbox belong to messages with ids in these ranges ([[first, last], ...]).
SELECT uid FROM (
    SELECT CASE (SELECT view FROM mailboxes WHERE id = :mailbox)
        WHEN 'all' THEN s.in_all WHEN 'unread' THEN s.in_unread WHEN 'action' THEN s.in_action
        ELSE iif(s.mailbox = :mailbox, s.uid, 0) END AS uid
    FROM json_each(:ranges) j
    CROSS JOIN state s ON s.email BETWEEN json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]')
) WHERE uid > 0;

-- name: expunged
-- The UIDs that left a mailbox after a modseq, as ranges.
SELECT first, last FROM log
WHERE account = :account AND mailbox = :mailbox AND modseq > :modseq AND kind = 2 ORDER BY first;

-- name: floor
SELECT log_floor FROM accounts WHERE id = :account;

-- name: rows
-- The index rows of a whole mailbox: UID, flag-set key, modseq, as columns.
SELECT json_group_array(p.uid), json_group_array(s.flags | (p.deleted << 4) | (s.keywords << 6)),
    json_group_array(max(p.modseq, s.modseq))
FROM placement p CROSS JOIN state s ON s.email = p.email
WHERE p.mailbox = :mailbox;

-- name: rows-at
-- The index rows of ranges of UIDs ([[first, last], ...], ascending).
SELECT p.uid, s.flags | (p.deleted << 4) | (s.keywords << 6) AS key, max(p.modseq, s.modseq) AS modseq
FROM json_each(:uids) j
CROSS JOIN placement p ON p.mailbox = :mailbox
    AND p.uid BETWEEN json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]')
CROSS JOIN state s ON s.email = p.email;

-- name: uids
SELECT uid FROM placement WHERE mailbox = :mailbox ORDER BY uid;

-- name: first-unseen
SELECT p.uid FROM placement p JOIN state s ON s.email = p.email
WHERE p.mailbox = :mailbox AND NOT s.flags & 1 ORDER BY p.uid LIMIT 1;

-- name: changed-since
-- Messages of a mailbox changed after a modseq.
SELECT p.uid FROM placement p JOIN state s ON s.email = p.email
WHERE p.mailbox = :mailbox AND (p.modseq > :modseq OR s.modseq > :modseq) ORDER BY p.uid;

-- name: floor-at
-- The last modseq given up to the end of a day.
SELECT coalesce(
    (SELECT min(modseq) - 1 FROM log_day WHERE account = :account AND day > :day),
    (SELECT modseq FROM accounts WHERE id = :account)
);

-- name: prune
DELETE FROM log WHERE account = :account AND modseq <= :floor;

-- name: prune-days
DELETE FROM log_day WHERE account = :account AND modseq <= :floor;

-- name: raise-floor
UPDATE accounts SET log_floor = max(log_floor, :floor) WHERE id = :account;
