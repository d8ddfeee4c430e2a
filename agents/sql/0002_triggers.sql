-- Schedules: one row a trigger, one a time it fired. The outbox learns the kind "automation".

CREATE TABLE triggers (
    id       TEXT PRIMARY KEY,
    account  INTEGER NOT NULL,
    agent    TEXT NOT NULL,
    thread   TEXT NOT NULL,
    act      TEXT NOT NULL CHECK (act IN ('remind', 'run')),
    kind     TEXT NOT NULL CHECK (kind IN ('once', 'recurring', 'cron')),
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
    CHECK ((state = 'active') = (wake_at IS NOT NULL)),
    CHECK ((due_at IS NULL) = (due_key IS NULL))
) STRICT;

CREATE INDEX triggers_wake ON triggers (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX triggers_account ON triggers (account, created);

CREATE TABLE fires (
    trigger  TEXT NOT NULL REFERENCES triggers (id) ON DELETE CASCADE,
    key      TEXT NOT NULL,
    due      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('fired', 'waiting', 'skipped', 'failed')),
    run      TEXT,
    PRIMARY KEY (trigger, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX fires_run ON fires (run) WHERE run IS NOT NULL;

CREATE TABLE outbox_next (
    key        TEXT PRIMARY KEY,
    kind       TEXT NOT NULL
               CHECK (kind IN ('result', 'question', 'request', 'notice', 'failure', 'reminder', 'activity', 'automation',
                               'mail')),
    account    INTEGER NOT NULL,
    agent      TEXT NOT NULL,
    thread     TEXT NOT NULL,
    run        TEXT NOT NULL,
    call       TEXT,
    request    TEXT,
    message_id TEXT NOT NULL UNIQUE,
    body       TEXT NOT NULL CHECK (json_valid(body)),
    series     TEXT,
    taint      INTEGER NOT NULL DEFAULT 0 CHECK (taint IN (0, 1)),
    state      TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'data_sent', 'sent', 'failed', 'unknown', 'withdrawn')),
    attempt    INTEGER NOT NULL DEFAULT 0,
    next_at    INTEGER NOT NULL,
    reply      TEXT NOT NULL DEFAULT '',
    ref        TEXT,
    created    INTEGER NOT NULL,
    updated    INTEGER NOT NULL,
    CHECK (kind = 'mail' OR state IN ('queued', 'sent', 'withdrawn'))
) STRICT;

INSERT INTO outbox_next (rowid, key, kind, account, agent, thread, run, call, request, message_id, body, series, taint, state,
                         attempt, next_at, reply, ref, created, updated)
SELECT rowid, key, kind, account, agent, thread, run, call, request, message_id, body, series, taint, state, attempt, next_at,
       reply, ref, created, updated
FROM outbox;

DROP TABLE outbox;
ALTER TABLE outbox_next RENAME TO outbox;

CREATE INDEX outbox_queued ON outbox (kind, next_at) WHERE state IN ('queued', 'sending', 'data_sent');
CREATE INDEX outbox_run ON outbox (run);
CREATE INDEX outbox_series ON outbox (series) WHERE series IS NOT NULL;
CREATE INDEX outbox_ref ON outbox (account, ref) WHERE ref IS NOT NULL;
