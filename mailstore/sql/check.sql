-- Invariants; each query returns what breaks it.

-- name: counters
-- Counters that differ from what is placed.
SELECT m.id, m.name, m.messages, m.recent, m.unseen, m.deleted, m.size, m.deleted_size FROM mailboxes m
LEFT JOIN (
    SELECT p.mailbox, count(*) AS messages, sum(p.uid >= b.recent_from) AS recent, sum((s.flags & 1) = 0) AS unseen,
        sum(p.deleted) AS deleted, sum(s.size) AS size, sum(s.size * p.deleted) AS deleted_size,
        max(p.uid) AS last_uid, max(max(p.modseq, s.modseq)) AS modseq
    FROM placement p JOIN state s ON s.email = p.email JOIN mailboxes b ON b.id = p.mailbox GROUP BY p.mailbox
) c ON c.mailbox = m.id
WHERE (m.messages, m.recent, m.unseen, m.deleted, m.size, m.deleted_size) <> (
    coalesce(c.messages, 0), coalesce(c.recent, 0), coalesce(c.unseen, 0), coalesce(c.deleted, 0), coalesce(c.size, 0),
    coalesce(c.deleted_size, 0)
) OR m.uidnext <= coalesce(c.last_uid, 0) OR m.highest_modseq < coalesce(c.modseq, 0);

-- name: stored
-- Messages without a placement in their own mailbox under the UID that is noted.
SELECT s.email FROM state s LEFT JOIN placement p ON p.mailbox = s.mailbox AND p.uid = s.uid
WHERE p.email IS NOT s.email;

-- name: states
-- Messages without a row of what changes of them, and such rows without a message, of another size, or of a message
-- that was destroyed.
SELECT e.id FROM email e LEFT JOIN state s ON s.email = e.id JOIN content c ON c.id = e.content
WHERE s.size IS NOT c.size AND e.id NOT IN (SELECT email FROM destroyed)
UNION ALL
SELECT s.email FROM state s LEFT JOIN email e ON e.id = s.email WHERE e.id IS NULL
UNION ALL
SELECT d.email FROM destroyed d JOIN state s ON s.email = d.email;

-- name: views
-- Messages that stand in other views than they should (what was read may linger in Unread), or are not placed there
-- under the UIDs that are noted.
SELECT email FROM (
    SELECT s.email, (s.in_all > 0) | ((s.in_unread > 0) << 1) | ((s.in_action > 0) << 2) AS shown,
        m.feeds & (1 | ((~s.flags & 1) << 1) | (s.open << 2)) AS wanted,
        EXISTS (SELECT 1 FROM lingering l WHERE l.email = s.email) AS lingers
    FROM state s JOIN mailboxes m ON m.id = s.mailbox
) WHERE shown <> wanted | (lingers << 1) OR (lingers AND wanted & 2)
UNION ALL
SELECT email FROM (
    SELECT s.email, v.id AS view,
        CASE v.view WHEN 'all' THEN s.in_all WHEN 'unread' THEN s.in_unread ELSE s.in_action END AS noted
    FROM state s JOIN mailboxes m ON m.id = s.mailbox JOIN mailboxes v ON v.account = m.account AND v.view IS NOT NULL
) WHERE noted > 0 AND email IS NOT (SELECT p.email FROM placement p WHERE p.mailbox = view AND p.uid = noted);

-- name: lost-placements
-- Placements of no message, or in no mailbox, or of another account's, or where the message is not known to stand.
SELECT p.mailbox, p.uid FROM placement p
LEFT JOIN email e ON e.id = p.email LEFT JOIN state s ON s.email = p.email LEFT JOIN mailboxes m ON m.id = p.mailbox
WHERE e.id IS NULL OR s.email IS NULL OR m.id IS NULL OR m.account <> e.account OR (m.view IS NULL AND m.id <> s.mailbox)
OR p.uid <> CASE m.view WHEN 'all' THEN s.in_all WHEN 'unread' THEN s.in_unread WHEN 'action' THEN s.in_action
    ELSE s.uid END;

-- name: contents
-- Contents whose chunks do not add up.
SELECT c.id FROM content c
LEFT JOIN content_chunk k ON k.id BETWEEN c.id << 16 AND (c.id << 16) + 65535
GROUP BY c.id HAVING coalesce(sum(length(k.data)), -1) <> c.size;

-- name: unused-contents
-- Contents without a message that nobody has noted for sweeping.
SELECT c.id FROM content c
WHERE NOT EXISTS (SELECT 1 FROM email e WHERE e.content = c.id)
AND NOT EXISTS (SELECT 1 FROM orphan o WHERE o.content = c.id);

-- name: renderings
-- Contents up to a kind's mark of which it is not stored, and renderings of contents that are gone.
SELECT r.id, c.id FROM rendering r CROSS JOIN content c ON c.id <= r.mark
WHERE NOT EXISTS (SELECT 1 FROM rendered d WHERE d.rendering = r.id AND d.content = c.id)
UNION ALL
SELECT d.rendering, d.content FROM rendered d WHERE NOT EXISTS (SELECT 1 FROM content c WHERE c.id = d.content);

-- name: labels
-- Labels of no message, and messages that are open without the label or labelled without being open.
SELECT email FROM label WHERE email NOT IN (SELECT email FROM state)
UNION ALL
SELECT s.email FROM state s
WHERE s.open <> EXISTS (SELECT 1 FROM label l WHERE l.email = s.email AND l.name = 'open');

-- name: threads
-- Messages in another account's thread.
SELECT e.id FROM email e JOIN thread t ON t.id = e.thread WHERE t.account <> e.account;

-- name: modseqs
-- Mailboxes and messages ahead of their account's counter.
SELECT m.id FROM mailboxes m JOIN accounts a ON a.id = m.account WHERE m.highest_modseq > a.modseq;

-- name: keyword-sets
-- Messages whose keyword set does not exist, or is another account's.
SELECT e.id FROM email e JOIN state s ON s.email = e.id LEFT JOIN keyword_set k ON k.id = s.keywords
WHERE k.id IS NULL OR (k.id <> 0 AND k.account <> e.account);

-- name: log
-- Messages that stand in a mailbox without the log having said so (since it was last shortened).
SELECT p.mailbox, p.uid FROM placement p JOIN mailboxes m ON m.id = p.mailbox
JOIN accounts a ON a.id = m.account
WHERE p.modseq > a.log_floor AND NOT EXISTS (
    SELECT 1 FROM log l WHERE l.account = a.id AND l.mailbox = p.mailbox AND l.modseq = p.modseq
    AND l.kind IN (1, 3) AND p.uid BETWEEN l.first AND l.last
);
