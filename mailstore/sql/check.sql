-- Invariants; each query returns what breaks it.

-- name: counters
-- Counters that differ from what is placed.
SELECT m.id, m.name, m.messages, m.recent, m.unseen, m.deleted, m.size, m.deleted_size FROM mailboxes m
LEFT JOIN (
    SELECT p.mailbox, count(*) AS messages, sum(p.uid >= b.recent_from) AS recent, sum((e.flags & 1) = 0) AS unseen,
        sum(p.deleted) AS deleted, sum(e.size) AS size, sum(e.size * p.deleted) AS deleted_size,
        max(p.uid) AS last_uid, max(max(p.modseq, e.modseq)) AS modseq
    FROM placement p JOIN email e ON e.id = p.email JOIN mailboxes b ON b.id = p.mailbox GROUP BY p.mailbox
) c ON c.mailbox = m.id
WHERE (m.messages, m.recent, m.unseen, m.deleted, m.size, m.deleted_size) <> (
    coalesce(c.messages, 0), coalesce(c.recent, 0), coalesce(c.unseen, 0), coalesce(c.deleted, 0), coalesce(c.size, 0),
    coalesce(c.deleted_size, 0)
) OR m.uidnext <= coalesce(c.last_uid, 0) OR m.highest_modseq < coalesce(c.modseq, 0);

-- name: stored
-- Messages without exactly one placement in their own mailbox.
SELECT e.id FROM email e LEFT JOIN placement p ON p.email = e.id AND p.mailbox = e.mailbox
GROUP BY e.id HAVING count(p.uid) <> 1;

-- name: views
-- Messages that stand in other views than they should; what was read may linger in Unread.
SELECT id FROM (
    SELECT e.id, e.shown, m.feeds & (1 | ((~e.flags & 1) << 1) | (e.open << 2)) AS wanted,
        (SELECT coalesce(sum(CASE v.view WHEN 'all' THEN 1 WHEN 'unread' THEN 2 ELSE 4 END), 0)
            FROM placement p JOIN mailboxes v ON v.id = p.mailbox AND v.view IS NOT NULL WHERE p.email = e.id) AS placed,
        EXISTS (SELECT 1 FROM lingering l WHERE l.email = e.id) AS lingers
    FROM email e JOIN mailboxes m ON m.id = e.mailbox
) WHERE shown <> placed OR shown <> wanted | (lingers << 1) OR (lingers AND wanted & 2);

-- name: lost-placements
-- Placements of no message, or in no mailbox, or of another account's.
SELECT p.mailbox, p.uid FROM placement p
LEFT JOIN email e ON e.id = p.email LEFT JOIN mailboxes m ON m.id = p.mailbox
WHERE e.id IS NULL OR m.id IS NULL OR m.account <> e.account OR (m.view IS NULL AND m.id <> e.mailbox);

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

-- name: labels
-- Labels of no message, and messages that are open without the label or labelled without being open.
SELECT email FROM label WHERE email NOT IN (SELECT id FROM email)
UNION ALL
SELECT e.id FROM email e
WHERE e.open <> EXISTS (SELECT 1 FROM label l WHERE l.email = e.id AND l.name = 'open');

-- name: threads
-- Messages in another account's thread.
SELECT e.id FROM email e JOIN thread t ON t.id = e.thread WHERE t.account <> e.account;

-- name: modseqs
-- Mailboxes and messages ahead of their account's counter.
SELECT m.id FROM mailboxes m JOIN accounts a ON a.id = m.account WHERE m.highest_modseq > a.modseq;

-- name: keyword-sets
-- Messages whose keyword set does not exist, or is another account's.
SELECT e.id FROM email e LEFT JOIN keyword_set k ON k.id = e.keywords
WHERE k.id IS NULL OR (k.id <> 0 AND k.account <> e.account);

-- name: log
-- Messages that stand in a mailbox without the log having said so (since it was last shortened).
SELECT p.mailbox, p.uid FROM placement p JOIN mailboxes m ON m.id = p.mailbox
JOIN accounts a ON a.id = m.account
WHERE p.modseq > a.log_floor AND NOT EXISTS (
    SELECT 1 FROM log l WHERE l.account = a.id AND l.mailbox = p.mailbox AND l.modseq = p.modseq
    AND l.kind IN (1, 3) AND p.uid BETWEEN l.first AND l.last
);
