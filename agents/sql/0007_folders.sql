-- Folders that a user has granted to agents, and what in them is not the owner's own.

CREATE TABLE folders (
    id      TEXT PRIMARY KEY,
    account INTEGER NOT NULL,
    agent   TEXT NOT NULL,
    name    TEXT NOT NULL,
    path    TEXT NOT NULL,
    writes  INTEGER NOT NULL CHECK (writes IN (0, 1)),
    own     INTEGER NOT NULL CHECK (own IN (0, 1)),
    created INTEGER NOT NULL,
    UNIQUE (account, name),
    UNIQUE (account, path)
) STRICT;

CREATE TABLE foreign_files (
    folder TEXT NOT NULL REFERENCES folders (id) ON DELETE CASCADE,
    sha    TEXT NOT NULL,
    PRIMARY KEY (folder, sha)
) STRICT, WITHOUT ROWID;
