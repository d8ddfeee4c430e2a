-- name: set
-- Adds shared flags to a run of messages and takes others away; keywords NULL leaves theirs as they are.
UPDATE state SET flags = (flags & ~:taken) | :added, keywords = coalesce(:keywords, keywords), modseq = :modseq
WHERE email BETWEEN :first AND :last;

-- name: mark
-- Sets or clears \Deleted on placements.
UPDATE placement SET deleted = :deleted, modseq = :modseq
WHERE mailbox = :mailbox AND uid IN (SELECT value FROM json_each(:uids));

-- name: of-emails
-- What is needed to change the flags of these messages.
SELECT s.email, m.account, s.flags, s.keywords, s.mailbox, (s.in_all > 0) | ((s.in_unread > 0) << 1) | ((s.in_action > 0) << 2) AS shown
FROM json_each(:emails) j CROSS JOIN state s ON s.email = j.value JOIN mailboxes m ON m.id = s.mailbox;

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
