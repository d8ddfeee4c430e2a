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
