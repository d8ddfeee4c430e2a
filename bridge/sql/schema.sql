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
