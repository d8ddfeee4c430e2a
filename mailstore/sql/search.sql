-- name: uids-of-contents
-- The UIDs of a mailbox whose messages have these bytes.
SELECT uid FROM (
    SELECT CASE (SELECT view FROM mailboxes WHERE id = :mailbox)
        WHEN 'all' THEN s.in_all WHEN 'unread' THEN s.in_unread WHEN 'action' THEN s.in_action
        ELSE iif(s.mailbox = :mailbox, s.uid, 0) END AS uid
    FROM json_each(:contents) j
    CROSS JOIN email e INDEXED BY email_content ON e.content = j.value AND e.account = :account
    CROSS JOIN state s ON s.email = e.id
) WHERE uid > 0;

-- name: contents-beyond
-- Messages of a mailbox with contents beyond a mark.
SELECT uid, content FROM (
    SELECT CASE (SELECT view FROM mailboxes WHERE id = :mailbox)
        WHEN 'all' THEN s.in_all WHEN 'unread' THEN s.in_unread WHEN 'action' THEN s.in_action
        ELSE iif(s.mailbox = :mailbox, s.uid, 0) END AS uid, e.content
    FROM email e INDEXED BY email_content
    CROSS JOIN state s ON s.email = e.id
    WHERE e.content > :mark AND e.account = :account
) WHERE uid > 0 ORDER BY content;

-- name: internal
-- By the day and time of the internal date as they were given, whatever the zone (RFC 3501 section 6.4.4).
SELECT json_group_array(p.uid) FROM placement p JOIN email e ON e.id = p.email
WHERE p.mailbox = :mailbox AND e.internal_date + e.zone * 60000 >= :first AND e.internal_date + e.zone * 60000 < :end;

-- name: arrived
-- By the moment of the internal date: from, up to but not including.
SELECT json_group_array(p.uid) FROM placement p JOIN email e ON e.id = p.email
WHERE p.mailbox = :mailbox AND e.internal_date >= :first AND e.internal_date < :end;

-- name: saved
SELECT json_group_array(uid) FROM placement WHERE mailbox = :mailbox AND saved >= :first AND saved < :end;

-- name: sent
-- By the day of the Date field as written.
SELECT json_group_array(p.uid) FROM placement p JOIN email e ON e.id = p.email JOIN content c ON c.id = e.content
WHERE p.mailbox = :mailbox AND c.sent_day >= :first AND c.sent_day < :end;

-- name: size
-- More than `above` bytes and fewer than `below`.
SELECT json_group_array(p.uid) FROM placement p JOIN state s ON s.email = p.email
WHERE p.mailbox = :mailbox AND s.size > :above AND s.size < :below;

-- name: origin
SELECT json_group_array(p.uid) FROM placement p JOIN email e ON e.id = p.email
WHERE p.mailbox = :mailbox AND e.origin = :origin;

-- name: thread
SELECT json_group_array(p.uid) FROM placement p JOIN email e ON e.id = p.email
WHERE p.mailbox = :mailbox AND e.thread = :thread;

-- name: unindexed
-- The next contents beyond a mark, and their sizes.
SELECT id, size FROM content WHERE id > :mark ORDER BY id LIMIT :limit;

-- name: highest-content
-- The last content id ever given.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'content'), 0);

-- name: store
SELECT value FROM meta WHERE name = 'store';

-- name: order
-- What messages are put in order by, and one rendering of them where it is stored.
SELECT p.uid, e.content, e.internal_date, s.size, c.sent, c.base_subject, r.bytes
FROM json_each(:uids) j
CROSS JOIN placement p ON p.mailbox = :mailbox AND p.uid = j.value
CROSS JOIN email e ON e.id = p.email
CROSS JOIN state s ON s.email = p.email
CROSS JOIN content c ON c.id = e.content
LEFT JOIN rendered r ON r.rendering = (SELECT id FROM rendering WHERE name = :rendering) AND r.content = e.content
ORDER BY p.uid;
