-- name: delivery
-- What came of an earlier append with this key.
SELECT email, thread, mailbox, uid, uidvalidity FROM delivery WHERE account = :account AND key = :key;

-- name: remember-delivery
INSERT INTO delivery (account, key, email, thread, mailbox, uid, uidvalidity, at)
VALUES (:account, :key, :email, :thread, :mailbox, :uid, :uidvalidity, :at);

-- name: next-id
-- The id the next message will have.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'email'), 0) + 1;

-- name: insert
INSERT INTO email (id, account, content, thread, origin, stands_for, header_size, internal_date, zone, filed,
    likeness)
VALUES (:id, :account, :content, :thread, :id, :id, :header_size, :internal_date, :zone, :filed, :likeness);

-- name: insert-state
-- What of a new message may change, with the UIDs it was given in its mailbox and the views.
INSERT INTO state (email, mailbox, uid, in_all, in_unread, in_action, flags, keywords, modseq, open, size)
VALUES (:email, :mailbox, :uid, :in_all, :in_unread, 0, :flags, :keywords, :modseq, 0, :size);

-- name: copy
-- Makes copies of messages, in the order given, under ascending ids.
INSERT INTO email (id, account, content, thread, origin, stands_for, header_size, internal_date, zone)
SELECT :id + j.key, e.account, e.content, e.thread, e.origin, e.stands_for, e.header_size, e.internal_date, e.zone
FROM json_each(:emails) j CROSS JOIN email e ON e.id = j.value;

-- name: copy-state
-- What of those copies may change. `in_all` is the first UID they were given in All, in their order, or 0 where the
-- mailbox does not feed it. Those in Unread are noted after this; no copy is open.
INSERT INTO state (email, mailbox, uid, in_all, in_unread, in_action, flags, keywords, modseq, open, size)
SELECT :id + j.key, :mailbox, :uid + j.key, iif(:in_all, :in_all + j.key, 0), 0, 0, s.flags, s.keywords, :modseq, 0, s.size
FROM json_each(:emails) j CROSS JOIN state s ON s.email = j.value;

-- name: refile
-- Gives messages another stored mailbox, under ascending UIDs.
UPDATE state SET mailbox = :mailbox, uid = :uid + j.key FROM json_each(:emails) j WHERE state.email = j.value;

-- name: delete-state
DELETE FROM state WHERE email IN (SELECT value FROM json_each(:emails));

-- name: note-destroyed
-- These messages are gone; what is left of them is collected later.
INSERT INTO destroyed (email) SELECT value FROM json_each(:emails);

-- name: destroyed
-- Some of the messages whose rows are to be collected, with what they held, as columns.
SELECT json_group_array(e.id), json_group_array(e.content), json_group_array(e.thread)
FROM (SELECT email FROM destroyed ORDER BY email LIMIT :limit) d CROSS JOIN email e ON e.id = d.email;

-- name: delete
DELETE FROM email WHERE id IN (SELECT value FROM json_each(:emails));

-- name: forget-destroyed
DELETE FROM destroyed WHERE email IN (SELECT value FROM json_each(:emails));

-- name: delete-annotations
DELETE FROM annotation WHERE (account, kind, target) IN (
    SELECT e.account, 'email', e.id FROM json_each(:emails) j CROSS JOIN email e ON e.id = j.value
);

-- name: facts
-- What is known of messages when another takes their place.
SELECT e.id, e.stands_for, e.thread FROM json_each(:emails) j CROSS JOIN email e ON e.id = j.value;

-- name: mails
-- What is told of messages when they move, as columns.
SELECT json_group_array(e.id), json_group_array(e.thread), json_group_array(c.message_id)
FROM json_each(:emails) j CROSS JOIN email e ON e.id = j.value CROSS JOIN content c ON c.id = e.content;

-- name: lost
-- Of messages that have just been destroyed those with whose bytes none of the account is left but in Trash, as
-- columns; the last one says whether there is one.
SELECT json_group_array(id), json_group_array(thread), json_group_array(message_id), json_group_array(in_trash)
FROM (
    SELECT e.id, e.thread, c.message_id, EXISTS (
        SELECT 1 FROM email o INDEXED BY email_content CROSS JOIN state s ON s.email = o.id
        WHERE o.content = e.content AND o.account = e.account
    ) AS in_trash
    FROM json_each(:emails) j CROSS JOIN email e ON e.id = j.value CROSS JOIN content c ON c.id = e.content
    WHERE NOT EXISTS (
        SELECT 1 FROM email o INDEXED BY email_content CROSS JOIN state s ON s.email = o.id
        CROSS JOIN mailboxes m ON m.id = s.mailbox
        WHERE o.content = e.content AND o.account = e.account AND m.role <> 'trash'
    )
);

-- name: heir
-- The newest message with the same bytes outside Trash, if there is one, and what the message itself stands for.
SELECT max(o.id) AS heir, e.stands_for
FROM email e JOIN email o INDEXED BY email_content ON o.content = e.content AND o.account = e.account
JOIN state s ON s.email = o.id JOIN mailboxes m ON m.id = s.mailbox
WHERE e.id = :email AND m.role <> 'trash';

-- name: fetch
-- Messages of a mailbox by ranges of UIDs ([[first, last], ...], ascending), with up to three stored renderings.
SELECT p.uid, p.email, e.content, s.size, e.internal_date, p.saved, max(p.modseq, s.modseq) AS modseq,
    s.flags | (p.deleted << 4) AS bits, s.keywords, e.thread, e.origin, e.header_size, e.zone,
    r0.bytes, r1.bytes, r2.bytes
FROM json_each(:uids) j
CROSS JOIN placement p ON p.mailbox = :mailbox
    AND p.uid BETWEEN json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]')
CROSS JOIN email e ON e.id = p.email
CROSS JOIN state s ON s.email = p.email
LEFT JOIN rendered r0 ON r0.content = e.content
    AND r0.rendering = (SELECT id FROM rendering WHERE name = :rendering_a)
LEFT JOIN rendered r1 ON r1.content = e.content
    AND r1.rendering = (SELECT id FROM rendering WHERE name = :rendering_b)
LEFT JOIN rendered r2 ON r2.content = e.content
    AND r2.rendering = (SELECT id FROM rendering WHERE name = :rendering_c);

-- name: lasting
-- What never changes of messages of a mailbox, by ranges of UIDs ([[first, last], ...], ascending): as columns.
SELECT json_group_array(p.uid), json_group_array(e.content), json_group_array(c.size),
    json_group_array(e.header_size), json_group_array(e.internal_date), json_group_array(e.zone)
FROM json_each(:uids) j
CROSS JOIN placement p ON p.mailbox = :mailbox
    AND p.uid BETWEEN json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]')
CROSS JOIN email e ON e.id = p.email
CROSS JOIN content c ON c.id = e.content;

-- name: info
SELECT e.id, e.account, e.content, e.thread, c.message_id, c.subject, e.internal_date, c.sent, s.size, s.flags,
    s.keywords
FROM email e JOIN state s ON s.email = e.id JOIN content c ON c.id = e.content WHERE e.id = :email;

-- name: locate
-- Every placement of these messages; the stored one first.
SELECT mailbox, uid FROM (
    SELECT s.email, 0 AS shown, s.mailbox, s.uid FROM json_each(:emails) j CROSS JOIN state s ON s.email = j.value
    UNION ALL
    SELECT s.email, 1, v.id, CASE v.view WHEN 'all' THEN s.in_all WHEN 'unread' THEN s.in_unread ELSE s.in_action END
    FROM json_each(:emails) j CROSS JOIN state s ON s.email = j.value
    JOIN mailboxes m ON m.id = s.mailbox JOIN mailboxes v ON v.account = m.account AND v.view IS NOT NULL
) WHERE uid > 0 ORDER BY email DESC, shown, mailbox;

-- name: by-message-id
SELECT e.id FROM content c CROSS JOIN email e INDEXED BY email_content ON e.content = c.id AND e.account = :account
WHERE c.message_id = :message_id AND e.id NOT IN (SELECT email FROM destroyed) ORDER BY e.id;

-- name: sent-by-message-id
-- Messages of this id in Sent.
SELECT e.id, e.content, e.filed, e.thread, e.stands_for, s.flags, s.uid
FROM content c CROSS JOIN email e INDEXED BY email_content ON e.content = c.id AND e.account = :account
JOIN state s ON s.email = e.id
WHERE c.message_id = :message_id AND s.mailbox = :mailbox ORDER BY e.id;

-- name: sent-by-likeness
-- Messages in Sent from and to the same, with the same subject and body, dated within two minutes.
SELECT e.id, e.content, e.filed, e.thread, e.stands_for, s.flags, s.uid
FROM email e JOIN content c ON c.id = e.content JOIN state s ON s.email = e.id
WHERE e.account = :account AND e.likeness = :likeness AND s.mailbox = :mailbox
AND abs(c.sent - :sent) <= 120000 ORDER BY e.id;

-- name: matched
-- A copy in Sent has met its twin from the other side.
UPDATE email SET filed = filed | 2 WHERE id = :email;

-- name: stand-in
-- A message takes another's place for whoever knows that one.
UPDATE email SET stands_for = :stands_for WHERE id = :email;
