-- name: next-modseq
-- Gives the account's next modseq.
UPDATE accounts SET modseq = modseq + 1 WHERE id = :account RETURNING modseq, log_day;

-- name: note-day
-- Remembers the first modseq of a day, by which old log rows are found later.
INSERT OR IGNORE INTO log_day (account, day, modseq) VALUES (:account, :day, :modseq);

-- name: set-day
UPDATE accounts SET log_day = :day WHERE id = :account;

-- name: log
-- Writes one row of the change log.
INSERT OR IGNORE INTO log (account, mailbox, modseq, kind, first, last)
VALUES (:account, :mailbox, :modseq, :kind, :first, :last);

-- name: reserve
-- Gives `messages` UIDs of a mailbox and counts what will stand there; returns the first UID.
UPDATE mailboxes SET
    uidnext = uidnext + :messages,
    messages = messages + :messages,
    recent = recent + :messages,
    unseen = unseen + :unseen,
    deleted = deleted + :deleted,
    size = size + :size,
    deleted_size = deleted_size + :deleted_size,
    highest_modseq = max(highest_modseq, :modseq)
WHERE id = :mailbox RETURNING uidnext - :messages;

-- name: put
-- Places messages under ascending UIDs.
INSERT INTO placement (mailbox, uid, email, modseq, saved, deleted)
SELECT :mailbox, :uid + key, value, :modseq, :saved, 0 FROM json_each(:emails);

-- name: take
-- Takes the placements of a range of UIDs away.
DELETE FROM placement WHERE mailbox = :mailbox AND uid BETWEEN :first AND :last;

-- name: mark
-- Sets or clears \Deleted on the placements of a range of UIDs.
UPDATE placement SET deleted = :deleted, modseq = :modseq
WHERE mailbox = :mailbox AND uid BETWEEN :first AND :last;

-- name: count
-- Changes a mailbox's counters by the given differences. What leaves from `recent_from` on was still recent.
UPDATE mailboxes SET
    messages = messages + :messages,
    recent = recent + (SELECT count(*) FILTER (WHERE value >= mailboxes.recent_from) FROM json_each(:left)) * -1,
    unseen = unseen + :unseen,
    deleted = deleted + :deleted,
    size = size + :size,
    deleted_size = deleted_size + :deleted_size,
    highest_modseq = max(highest_modseq, :modseq)
WHERE id = :mailbox;

-- name: at
-- The placements of a stored mailbox in ranges of UIDs ([[first, last], ...], ascending), as the columns of a Standing,
-- but for those that say where the messages are stored: here.
SELECT json_group_array(p.uid), json_group_array(p.email),
    json_group_array(s.flags | (p.deleted << 4) | (s.keywords << 6)), json_group_array(s.size),
    json_group_array(s.in_all), json_group_array(s.in_unread), json_group_array(s.in_action)
FROM json_each(:uids) j
CROSS JOIN placement p ON p.mailbox = :mailbox
    AND p.uid BETWEEN json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]')
CROSS JOIN state s ON s.email = p.email;

-- name: shown-at
-- The placements of a view in ranges of UIDs ([[first, last], ...], ascending), as the columns of a Standing.
SELECT json_group_array(p.uid), json_group_array(p.email),
    json_group_array(s.flags | (p.deleted << 4) | (s.keywords << 6)), json_group_array(s.size),
    json_group_array(s.mailbox), json_group_array(s.uid), json_group_array(s.in_all), json_group_array(s.in_unread),
    json_group_array(s.in_action)
FROM json_each(:uids) j
CROSS JOIN placement p ON p.mailbox = :mailbox
    AND p.uid BETWEEN json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]')
CROSS JOIN state s ON s.email = p.email;

-- name: marked
-- The placements of a stored mailbox that are \Deleted, ascending: as `at`.
SELECT json_group_array(p.uid), json_group_array(p.email),
    json_group_array(s.flags | (p.deleted << 4) | (s.keywords << 6)), json_group_array(s.size),
    json_group_array(s.in_all), json_group_array(s.in_unread), json_group_array(s.in_action)
FROM placement p CROSS JOIN state s ON s.email = p.email
WHERE p.mailbox = :mailbox AND p.deleted = 1;

-- name: shown-marked
-- The placements of a view that are \Deleted, ascending: as `shown-at`.
SELECT json_group_array(p.uid), json_group_array(p.email),
    json_group_array(s.flags | (p.deleted << 4) | (s.keywords << 6)), json_group_array(s.size),
    json_group_array(s.mailbox), json_group_array(s.uid), json_group_array(s.in_all), json_group_array(s.in_unread),
    json_group_array(s.in_action)
FROM placement p CROSS JOIN state s ON s.email = p.email
WHERE p.mailbox = :mailbox AND p.deleted = 1;

-- name: everything
-- All placements of a stored mailbox, ascending: as `at`.
SELECT json_group_array(p.uid), json_group_array(p.email),
    json_group_array(s.flags | (p.deleted << 4) | (s.keywords << 6)), json_group_array(s.size),
    json_group_array(s.in_all), json_group_array(s.in_unread), json_group_array(s.in_action)
FROM placement p CROSS JOIN state s ON s.email = p.email
WHERE p.mailbox = :mailbox;

-- name: stored
-- The stored placements of messages.
SELECT json_group_array(p.uid), json_group_array(p.email),
    json_group_array(s.flags | (p.deleted << 4) | (s.keywords << 6)), json_group_array(s.size),
    json_group_array(s.mailbox), json_group_array(s.uid), json_group_array(s.in_all), json_group_array(s.in_unread),
    json_group_array(s.in_action)
FROM json_each(:emails) j
CROSS JOIN state s ON s.email = j.value
CROSS JOIN placement p ON p.mailbox = s.mailbox AND p.uid = s.uid;

-- name: marks
-- Those of these UIDs of a mailbox that are \Deleted.
SELECT uid FROM placement WHERE mailbox = :mailbox AND deleted = 1 AND uid IN (SELECT value FROM json_each(:uids));
