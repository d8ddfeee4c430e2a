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
