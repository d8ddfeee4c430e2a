-- Notes across tasks, and which accounts want them. The outbox learns the kind "memory".

CREATE TABLE notes (
    id       TEXT PRIMARY KEY,
    account  INTEGER NOT NULL,
    agent    TEXT NOT NULL,
    text     TEXT NOT NULL,
    about    TEXT NOT NULL,
    taint    INTEGER NOT NULL DEFAULT 0 CHECK (taint IN (0, 1)),
    state    TEXT NOT NULL CHECK (state IN ('active', 'off')),
    revision INTEGER NOT NULL DEFAULT 0,
    key      TEXT NOT NULL,
    created  INTEGER NOT NULL,
    updated  INTEGER NOT NULL,
    UNIQUE (account, key)
) STRICT;

CREATE TABLE memory (
    account INTEGER PRIMARY KEY,
    since   INTEGER NOT NULL
) STRICT;

CREATE TABLE outbox_next (
    key        TEXT PRIMARY KEY,
    kind       TEXT NOT NULL
               CHECK (kind IN ('result', 'question', 'request', 'notice', 'failure', 'reminder', 'activity', 'automation',
                               'memory', 'mail')),
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
