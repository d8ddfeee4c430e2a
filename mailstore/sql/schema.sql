-- The mail store's tables. Times are UTC milliseconds. A message is one `email` row that hardly changes and one `state`
-- row that does. It has one stored placement (of its mailbox), and one more in each view that shows it; its bytes are
-- `content`, kept once however often copied.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('uidvalidity', 0);        -- the last one given
INSERT INTO meta VALUES ('store', random());       -- by which the text index knows whose it is

CREATE TABLE accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    address TEXT NOT NULL UNIQUE COLLATE NOCASE,
    object_id TEXT NOT NULL UNIQUE,
    modseq INTEGER NOT NULL DEFAULT 1,       -- the last one given; one counter for all mailboxes
    log_floor INTEGER NOT NULL DEFAULT 0,    -- the log is complete for what happened after this modseq
    log_day INTEGER NOT NULL DEFAULT 0       -- the last day noted in log_day
) STRICT;

CREATE TABLE mailboxes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    view TEXT,
    special_use TEXT,
    feeds INTEGER NOT NULL,                  -- which views may show its mail: 1 All, 2 Unread, 4 Action
    selectable INTEGER NOT NULL DEFAULT 1,
    uidvalidity INTEGER NOT NULL UNIQUE,
    uidnext INTEGER NOT NULL DEFAULT 1,
    recent_from INTEGER NOT NULL DEFAULT 1,  -- UIDs from here on are \Recent, claimed by nobody yet
    messages INTEGER NOT NULL DEFAULT 0,
    recent INTEGER NOT NULL DEFAULT 0,
    unseen INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0,
    deleted_size INTEGER NOT NULL DEFAULT 0,
    highest_modseq INTEGER NOT NULL DEFAULT 1,
    UNIQUE (account, name)
) STRICT;

CREATE TABLE subscription (
    account INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,                      -- may name a mailbox that is gone
    PRIMARY KEY (account, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE content (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL UNIQUE,               -- SHA-256 of the bytes
    size INTEGER NOT NULL,
    header_size INTEGER NOT NULL,            -- with the empty line
    message_id TEXT,
    subject TEXT NOT NULL,
    base_subject TEXT NOT NULL,
    sent INTEGER,                            -- the Date field
    sent_day INTEGER                         -- its day as written, in its own zone; days since 1970-01-01
) STRICT;
CREATE INDEX content_message_id ON content (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE content_chunk (
    id INTEGER PRIMARY KEY,                  -- content << 16 | number of the chunk
    data BLOB NOT NULL                       -- 256 KiB, the last one what is left
) STRICT;

CREATE TABLE rendering (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,               -- versioned: "imap.envelope.1"
    mark INTEGER NOT NULL DEFAULT 0          -- of every content up to this one it is stored
) STRICT;

CREATE TABLE rendered (
    rendering INTEGER NOT NULL,
    content INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (rendering, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE keyword (
    account INTEGER NOT NULL,
    folded TEXT NOT NULL,                    -- compared in this form
    name TEXT NOT NULL,                      -- as first stored
    PRIMARY KEY (account, folded)
) STRICT, WITHOUT ROWID;

CREATE TABLE keyword_set (
    id INTEGER PRIMARY KEY AUTOINCREMENT,    -- 0 is no keyword; no number is given twice, as memory knows sets by it
    account INTEGER NOT NULL,
    names TEXT NOT NULL,                     -- sorted, separated by one space
    UNIQUE (account, names)
) STRICT;
INSERT INTO keyword_set VALUES (0, 0, '');

CREATE TABLE thread (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES accounts (id)
) STRICT;

CREATE TABLE alias (
    account INTEGER NOT NULL,
    alias TEXT NOT NULL,
    thread INTEGER NOT NULL,
    PRIMARY KEY (account, alias)
) STRICT, WITHOUT ROWID;
CREATE INDEX alias_thread ON alias (thread);

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
    likeness BLOB,                           -- in Sent: hash of From, To, Subject and body
    zone INTEGER NOT NULL DEFAULT 0          -- minutes that the clock of the internal date was ahead of UTC
) STRICT;
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

CREATE TABLE placement (
    mailbox INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    email INTEGER NOT NULL,
    modseq INTEGER NOT NULL,                 -- of its arrival, or of the last change of `deleted`
    saved INTEGER NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,      -- 1: \Deleted
    PRIMARY KEY (mailbox, uid)
) STRICT, WITHOUT ROWID;

CREATE TABLE lingering (
    email INTEGER PRIMARY KEY,               -- read, and still placed in Unread as a session has it open
    mailbox INTEGER NOT NULL,                -- the Unread view
    modseq INTEGER NOT NULL,                 -- when it was read
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX lingering_mailbox ON lingering (mailbox, modseq);

CREATE TABLE log (
    account INTEGER NOT NULL,
    mailbox INTEGER NOT NULL,                -- 0: flags of messages, wherever they are placed
    modseq INTEGER NOT NULL,
    kind INTEGER NOT NULL,                   -- 1 arrived, 2 gone, 3 \Deleted changed (UIDs), 4 flags changed (email ids)
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (account, mailbox, modseq, kind, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE log_day (
    account INTEGER NOT NULL,
    day INTEGER NOT NULL,                    -- days since 1970-01-01
    modseq INTEGER NOT NULL,                 -- the first one given on that day
    PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE label (
    email INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (email, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery (
    account INTEGER NOT NULL,
    key TEXT NOT NULL,
    email INTEGER NOT NULL,
    thread INTEGER NOT NULL,
    mailbox INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    uidvalidity INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE annotation (
    account INTEGER NOT NULL,
    kind TEXT NOT NULL,                      -- of what: "server", "mailbox", "email", "thread"
    target INTEGER NOT NULL,                 -- its id; 0 for the server
    entry TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (account, kind, target, entry)
) STRICT, WITHOUT ROWID;

CREATE TABLE destroyed (
    email INTEGER PRIMARY KEY                -- in no mailbox any more; its row is deleted later
) STRICT;

CREATE TABLE orphan (
    content INTEGER PRIMARY KEY              -- lost a message; swept later when it has none left
) STRICT;
