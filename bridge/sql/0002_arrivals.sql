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
