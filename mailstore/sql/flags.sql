-- name: set
-- Adds shared flags to a run of messages and takes others away; keywords NULL leaves theirs as they are.
UPDATE state SET flags = (flags & ~:taken) | :added, keywords = coalesce(:keywords, keywords), modseq = :modseq
WHERE email BETWEEN :first AND :last;

-- name: changed-since
-- Those of these UIDs ([[first, last], ...], ascending) whose messages were changed after a modseq.
SELECT p.uid
FROM json_each(:uids) j
CROSS JOIN placement p ON p.mailbox = :mailbox
    AND p.uid BETWEEN json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]')
CROSS JOIN state s ON s.email = p.email
WHERE max(p.modseq, s.modseq) > :modseq;

-- name: keyword
-- A keyword as it was first spelled.
SELECT name FROM keyword WHERE account = :account AND folded = :folded;

-- name: add-keyword
INSERT INTO keyword (account, folded, name) VALUES (:account, :folded, :name);

-- name: count-keywords
SELECT count(*) FROM keyword WHERE account = :account;

-- name: known
SELECT name FROM keyword WHERE account = :account ORDER BY folded;

-- name: keyword-set
SELECT names FROM keyword_set WHERE id = :id;

-- name: find-keyword-set
SELECT id FROM keyword_set WHERE account = :account AND names = :names;

-- name: add-keyword-set
INSERT INTO keyword_set (account, names) VALUES (:account, :names);

-- name: recent
SELECT recent, recent_from, uidnext FROM mailboxes WHERE id = :mailbox;

-- name: claim
UPDATE mailboxes SET recent = 0, recent_from = uidnext WHERE id = :mailbox;
