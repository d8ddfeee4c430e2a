-- Requests that were sent to the user's real address, each with a token of its own: it opens nothing at home, and the
-- one at home opens nothing outside. `key` is the outbox row of the request's mail. A token is claimed once.
CREATE TABLE outside_asks (
    request TEXT PRIMARY KEY,
    account INTEGER NOT NULL,
    key TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE,
    claimed INTEGER,
    claimed_by TEXT,
    created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Mail to the user's real address: requests, their reminders, and answers to what came from there. One that could not
-- be sent for a day is given up.
CREATE TABLE outside_mail (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('ask', 'again', 'answer')),
    request TEXT NOT NULL,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '',
    in_reply_to TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sent', 'failed', 'needless')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL,
    reply TEXT NOT NULL DEFAULT '',
    created INTEGER NOT NULL,
    UNIQUE (request, kind, in_reply_to)
) STRICT;

CREATE INDEX outside_mail_queued ON outside_mail (next_at) WHERE state = 'queued';

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
