-- Passwords of accounts, one row a device. `account` is mailstore's accounts.id. `selector` is the first group of a
-- generated password, kept in clear so that one check suffices to find the row; NULL for a password the user chose.
CREATE TABLE passwords (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    label TEXT NOT NULL,
    selector TEXT,
    hash TEXT NOT NULL,
    created INTEGER NOT NULL,
    used INTEGER,
    hooks_only INTEGER NOT NULL DEFAULT 0 CHECK (hooks_only IN (0, 1)),
    UNIQUE (account, label)
) STRICT;

-- Mail that came in and has to be acted on, one row a message and set of recipients. The row stays when the mail is
-- gone: it is what keeps a repeat from acting twice. No bodies here, only hashes. `key` is what makes a mail one:
-- its Message-ID and the hash of its body, or the mailbox and UID of a message that was dropped.
CREATE TABLE arrivals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    email INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('submitted', 'dropped')),
    recipients TEXT NOT NULL CHECK (json_valid(recipients)),
    key TEXT NOT NULL,
    raw_hash TEXT NOT NULL,
    via TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'done', 'machine', 'unreadable')),
    attempts INTEGER NOT NULL DEFAULT 0,
    UNIQUE (account, key)
) STRICT;

CREATE INDEX arrivals_queued ON arrivals (id) WHERE state = 'queued';
CREATE INDEX arrivals_raw ON arrivals (account, raw_hash, at);
CREATE INDEX arrivals_email ON arrivals (email);

-- Which stored message shows a series (the Activity message of a run): the next state takes its place.
CREATE TABLE shown (
    account INTEGER NOT NULL,
    series TEXT NOT NULL,
    email INTEGER NOT NULL,
    PRIMARY KEY (account, series)
) STRICT, WITHOUT ROWID;

-- Requests that were sent to the user's real address, each with a token of its own: it opens nothing at home, and the
-- one at home opens nothing outside. `key` is the outbox row of the request's mail. A token is claimed once.
-- `answered_by`, `answered_id` and `answered_at` are of the last proven mail about it.
CREATE TABLE outside_asks (
    request TEXT PRIMARY KEY,
    account INTEGER NOT NULL,
    key TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE,
    claimed INTEGER,
    claimed_by TEXT,
    created INTEGER NOT NULL,
    answered_by TEXT,
    answered_id TEXT,
    answered_at INTEGER
) STRICT, WITHOUT ROWID;

-- Mail to the user's real address: requests, their reminders, answers to what came from there, and the ends of tasks that
-- were answered from there (`key` is the outbox row of such an end, `request` is empty). One that could not be sent for a
-- day is given up.
CREATE TABLE outside_mail (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('ask', 'again', 'answer', 'result')),
    request TEXT NOT NULL,
    key TEXT NOT NULL DEFAULT '',
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '',
    in_reply_to TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sent', 'failed', 'needless')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL,
    reply TEXT NOT NULL DEFAULT '',
    created INTEGER NOT NULL,
    UNIQUE (request, kind, in_reply_to, key)
) STRICT;

CREATE INDEX outside_mail_queued ON outside_mail (next_at) WHERE state = 'queued';
CREATE INDEX outside_mail_lately ON outside_mail (account, kind, created);

-- Signed answers that were read: the same signature never counts twice. Hashes only.
CREATE TABLE outside_seen (
    account INTEGER NOT NULL,
    signature TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (account, signature)
) STRICT, WITHOUT ROWID;

-- How far a watched mailbox was read. Another UIDVALIDITY means that its numbers begin anew.
CREATE TABLE watched (
    mailbox TEXT PRIMARY KEY,
    uidvalidity INTEGER NOT NULL,
    next_uid INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What SCRAM-SHA-256 (RFC 5802) keeps of a password beside its hash: enough to check a login, not to make one. `form` 0
-- is the password as it is shown or was chosen, 1 a generated one without its dashes.
CREATE TABLE scram (
    password INTEGER NOT NULL,
    form INTEGER NOT NULL,
    iterations INTEGER NOT NULL,
    stored_key BLOB NOT NULL,
    server_key BLOB NOT NULL,
    PRIMARY KEY (password, form)
) STRICT, WITHOUT ROWID;

-- What the salts are made with, of accounts and of logins that nobody has: so one looks like the other.
CREATE TABLE scram_key (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL
) STRICT;
INSERT INTO scram_key VALUES (1, randomblob(32));
