-- Triggers that something outside sets off: webhooks, mail hooks, watched mailboxes. Each has a name; a secret is kept as
-- a salted hash. What came and waits for its run is kept with its fire. (The tables are put in place anew, as a CHECK
-- cannot be changed; the rows of fires are held where dropping their triggers does not reach them.)

CREATE TABLE triggers_held AS SELECT * FROM triggers;
CREATE TABLE fires_held AS SELECT * FROM fires;
DROP TABLE fires;
DROP TABLE triggers;

CREATE TABLE triggers (
    id       TEXT PRIMARY KEY,
    account  INTEGER NOT NULL,
    agent    TEXT NOT NULL,
    thread   TEXT NOT NULL,
    act      TEXT NOT NULL CHECK (act IN ('remind', 'run')),
    kind     TEXT NOT NULL CHECK (kind IN ('once', 'recurring', 'cron', 'webhook', 'hook', 'mailbox')),
    name     TEXT NOT NULL DEFAULT '',
    spec     TEXT NOT NULL,
    zone     TEXT NOT NULL,
    title    TEXT NOT NULL,
    text     TEXT NOT NULL,
    said     TEXT NOT NULL DEFAULT '',
    late     TEXT NOT NULL DEFAULT 'once' CHECK (late IN ('once', 'skip', 'all')),
    overlap  TEXT NOT NULL DEFAULT 'skip' CHECK (overlap IN ('skip', 'queue', 'replace')),
    taint    INTEGER NOT NULL DEFAULT 0 CHECK (taint IN (0, 1)),
    state    TEXT NOT NULL CHECK (state IN ('active', 'paused', 'off', 'done', 'failed')),
    due_at   INTEGER,
    due_key  TEXT,
    wake_at  INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    fired    INTEGER NOT NULL DEFAULT 0,
    last_at  INTEGER,
    last     TEXT NOT NULL DEFAULT '',
    revision INTEGER NOT NULL DEFAULT 0,
    key      TEXT NOT NULL,
    created  INTEGER NOT NULL,
    updated  INTEGER NOT NULL,
    UNIQUE (account, key),
    CHECK (wake_at IS NULL OR state = 'active'),
    CHECK (wake_at IS NOT NULL OR state <> 'active' OR name <> ''),
    CHECK ((name <> '') = (kind IN ('webhook', 'hook', 'mailbox'))),
    CHECK ((due_at IS NULL) = (due_key IS NULL))
) STRICT;

CREATE INDEX triggers_wake ON triggers (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX triggers_account ON triggers (account, created);
CREATE UNIQUE INDEX triggers_name ON triggers (account, kind, name) WHERE name <> '';

CREATE TABLE trigger_secrets (
    trigger TEXT PRIMARY KEY REFERENCES triggers (id) ON DELETE CASCADE,
    salt    BLOB NOT NULL,
    hash    BLOB NOT NULL,
    made    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE fires (
    trigger  TEXT NOT NULL REFERENCES triggers (id) ON DELETE CASCADE,
    key      TEXT NOT NULL,
    due      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('fired', 'waiting', 'skipped', 'failed')),
    run      TEXT,
    hash     TEXT NOT NULL DEFAULT '',
    letter   TEXT CHECK (letter IS NULL OR json_valid(letter)),
    PRIMARY KEY (trigger, key)
) STRICT, WITHOUT ROWID;

INSERT INTO triggers (id, account, agent, thread, act, kind, spec, zone, title, text, said, late, overlap, taint, state, due_at, due_key, wake_at,
                      attempts, fired, last_at, last, revision, key, created, updated)
SELECT id, account, agent, thread, act, kind, spec, zone, title, text, said, late, overlap, taint, state, due_at, due_key, wake_at,
       attempts, fired, last_at, last, revision, key, created, updated
FROM triggers_held;
INSERT INTO fires (trigger, key, due, at, state, run) SELECT trigger, key, due, at, state, run FROM fires_held;
DROP TABLE fires_held;
DROP TABLE triggers_held;

CREATE INDEX fires_run ON fires (run) WHERE run IS NOT NULL;
CREATE INDEX fires_hash ON fires (trigger, hash, at) WHERE hash <> '';
