-- Threads that go on from a mail of another one, and names that their owners gave to threads.

CREATE TABLE forks (
    account INTEGER NOT NULL,
    thread  TEXT NOT NULL,
    origin  TEXT NOT NULL,
    upto    INTEGER NOT NULL,
    subject TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (account, thread)
) STRICT, WITHOUT ROWID;

CREATE TABLE titles (
    account INTEGER NOT NULL,
    thread  TEXT NOT NULL,
    title   TEXT NOT NULL,
    PRIMARY KEY (account, thread)
) STRICT, WITHOUT ROWID;
