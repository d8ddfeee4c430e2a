-- What changes of a message goes into a table of its own, which also knows the UIDs under which the message stands; so a
-- change of 10,000 flags writes a fifth of the pages, and placements need no second index.

DROP INDEX email_message_id;
DROP INDEX email_content;
DROP INDEX email_thread;
DROP INDEX email_stands_for;
DROP INDEX email_likeness;
ALTER TABLE email RENAME TO email_before;

CREATE TABLE email (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    content INTEGER NOT NULL REFERENCES content (id),
    thread INTEGER NOT NULL REFERENCES thread (id),
    origin INTEGER NOT NULL,                 -- its own id, or that of the message it was copied from (EMAILID)
    stands_for INTEGER NOT NULL,             -- its own id, or that of the message whose place it may take
    header_size INTEGER NOT NULL,
    internal_date INTEGER NOT NULL,
    filed INTEGER NOT NULL DEFAULT 0,        -- in Sent: 0 a client's, 1 the server's, plus 2 when matched
    message_id TEXT,
    likeness BLOB                            -- in Sent: hash of From, To, Subject and body
) STRICT;
CREATE INDEX email_message_id ON email (account, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX email_content ON email (content, account);
CREATE INDEX email_thread ON email (thread);
CREATE INDEX email_stands_for ON email (stands_for) WHERE stands_for <> id;
CREATE INDEX email_likeness ON email (account, likeness) WHERE likeness IS NOT NULL;

CREATE TABLE state (                         -- what changes of a message, and what is counted: narrow, for large changes
    email INTEGER PRIMARY KEY,
    mailbox INTEGER NOT NULL,                -- of its stored placement
    uid INTEGER NOT NULL,                    -- there
    in_all INTEGER NOT NULL,                 -- its UID in each of the views; 0 where it does not stand there
    in_unread INTEGER NOT NULL,
    in_action INTEGER NOT NULL,
    flags INTEGER NOT NULL,                  -- 1 \Seen, 2 \Answered, 4 \Flagged, 8 \Draft
    keywords INTEGER NOT NULL,               -- a keyword_set
    modseq INTEGER NOT NULL,                 -- of the last change of flags
    open INTEGER NOT NULL,                   -- 1: has the label "open"
    size INTEGER NOT NULL
) STRICT;

INSERT INTO email (id, account, content, thread, origin, stands_for, header_size, internal_date, filed, message_id,
    likeness)
SELECT id, account, content, thread, origin, stands_for, header_size, internal_date, filed, message_id, likeness
FROM email_before;

INSERT INTO state (email, mailbox, uid, in_all, in_unread, in_action, flags, keywords, modseq, open, size)
SELECT e.id, e.mailbox,
    (SELECT p.uid FROM placement p WHERE p.email = e.id AND p.mailbox = e.mailbox),
    coalesce((SELECT p.uid FROM placement p JOIN mailboxes m ON m.id = p.mailbox AND m.view = 'all'
        WHERE p.email = e.id), 0),
    coalesce((SELECT p.uid FROM placement p JOIN mailboxes m ON m.id = p.mailbox AND m.view = 'unread'
        WHERE p.email = e.id), 0),
    coalesce((SELECT p.uid FROM placement p JOIN mailboxes m ON m.id = p.mailbox AND m.view = 'action'
        WHERE p.email = e.id), 0),
    e.flags, e.keywords, e.modseq, e.open, e.size
FROM email_before e;

-- Ids that were given to messages that are gone must not be given again.
DELETE FROM sqlite_sequence WHERE name = 'email';
INSERT INTO sqlite_sequence (name, seq) SELECT 'email', seq FROM sqlite_sequence WHERE name = 'email_before';
DROP TABLE email_before;
DROP INDEX placement_email;
