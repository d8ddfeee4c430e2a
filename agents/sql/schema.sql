-- The runtime's tables, first version. States are enums with CHECK; a terminal state is never left (triggers below).

CREATE TABLE boots (
    boot    TEXT PRIMARY KEY,
    started INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
    id           TEXT PRIMARY KEY,
    account      INTEGER NOT NULL,
    agent        TEXT NOT NULL,
    thread       TEXT NOT NULL,
    root         TEXT NOT NULL,
    parent       TEXT REFERENCES runs (id) ON DELETE CASCADE,
    parent_call  TEXT,
    depth        INTEGER NOT NULL DEFAULT 0 CHECK (depth IN (0, 1)),
    origin       TEXT NOT NULL
                 CHECK (origin IN ('typed', 'dropped', 'forwarded', 'hook', 'schedule', 'delegated', 'retry')),
    fire_key     TEXT NOT NULL,
    model        TEXT,
    subject      TEXT NOT NULL,
    answers      TEXT,
    message      TEXT,
    state        TEXT NOT NULL
                 CHECK (state IN ('queued', 'running', 'waiting_approval', 'waiting_user', 'waiting_time', 'waiting_budget',
                                  'waiting_unknown', 'waiting_child', 'waiting_send',
                                  'done', 'failed', 'cancelled', 'stuck', 'expired')),
    boot         TEXT,
    queued       INTEGER NOT NULL,
    claimed      INTEGER,
    wake_at      INTEGER,
    deadline     INTEGER NOT NULL,
    cancel_at    INTEGER,
    cancel_why   TEXT,
    taint        INTEGER NOT NULL DEFAULT 0 CHECK (taint IN (0, 1)),
    shrink       INTEGER NOT NULL DEFAULT 0,
    raised       TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(raised)),
    n_model      INTEGER NOT NULL DEFAULT 0,
    n_tool       INTEGER NOT NULL DEFAULT 0,
    tok_in       INTEGER NOT NULL DEFAULT 0,
    tok_out      INTEGER NOT NULL DEFAULT 0,
    cost_u       INTEGER NOT NULL DEFAULT 0,
    cost_unknown INTEGER NOT NULL DEFAULT 0 CHECK (cost_unknown IN (0, 1)),
    active_ms    INTEGER NOT NULL DEFAULT 0,
    outcome      TEXT,
    activity     INTEGER NOT NULL DEFAULT 0,
    activity_at  INTEGER NOT NULL DEFAULT 0,
    created      INTEGER NOT NULL,
    updated      INTEGER NOT NULL,
    ended        INTEGER, fallback INTEGER NOT NULL DEFAULT 0,
    UNIQUE (account, fire_key),
    CHECK ((state = 'running') = (boot IS NOT NULL)),
    CHECK ((state IN ('done', 'failed', 'cancelled', 'stuck', 'expired')) = (ended IS NOT NULL))
) STRICT;

CREATE INDEX runs_thread ON runs (account, thread, created);
CREATE INDEX runs_parent ON runs (parent) WHERE parent IS NOT NULL;
CREATE INDEX runs_live ON runs (state, queued)
    WHERE state NOT IN ('done', 'failed', 'cancelled', 'stuck', 'expired');

CREATE TRIGGER runs_end_once BEFORE UPDATE OF state ON runs
WHEN OLD.ended IS NOT NULL AND NEW.state IS NOT OLD.state
BEGIN
    SELECT RAISE(ABORT, 'a run that has ended stays ended');
END;

CREATE TABLE letters (
    account INTEGER NOT NULL,
    key     TEXT NOT NULL,
    run     TEXT REFERENCES runs (id) ON DELETE SET NULL,
    body    TEXT NOT NULL CHECK (json_valid(body)),
    state   TEXT NOT NULL CHECK (state IN ('pending', 'taken')),
    at      INTEGER NOT NULL,
    PRIMARY KEY (account, key)
) STRICT;

CREATE INDEX letters_run ON letters (run, state);

CREATE TABLE steps (
    run  TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('user', 'model', 'results', 'note', 'compact')),
    body TEXT NOT NULL CHECK (json_valid(body)),
    at   INTEGER NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER steps_append_only BEFORE UPDATE ON steps
BEGIN
    SELECT RAISE(ABORT, 'steps are append-only');
END;

CREATE TABLE model_calls (
    id         TEXT PRIMARY KEY,
    run        TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq        INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('reserved', 'done', 'failed', 'lost')),
    day        TEXT NOT NULL,
    model      TEXT NOT NULL,
    endpoint   TEXT,
    reserved_u INTEGER NOT NULL,
    reserved_t INTEGER NOT NULL,
    tok_in     INTEGER,
    tok_out    INTEGER,
    cost_u     INTEGER,
    fault      TEXT CHECK (fault IN ('auth', 'rate', 'transient', 'context', 'refused', 'timeout', 'gone', 'quota')),
    text       TEXT,
    retry_at   INTEGER,
    created    INTEGER NOT NULL,
    ended      INTEGER, purpose TEXT NOT NULL DEFAULT 'answer' CHECK (purpose IN ('answer', 'compact')), progress TEXT NOT NULL DEFAULT '',
    UNIQUE (run, seq, attempt),
    CHECK ((state = 'reserved') = (ended IS NULL)),
    CHECK ((state = 'failed') = (fault IS NOT NULL))
) STRICT;

CREATE TABLE tool_calls (
    id          TEXT PRIMARY KEY,
    run         TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq         INTEGER NOT NULL,
    idx         INTEGER NOT NULL,
    provider_id TEXT NOT NULL,
    tool        TEXT NOT NULL,
    def_hash    TEXT NOT NULL,
    args        TEXT NOT NULL CHECK (CASE WHEN json_valid(args) THEN json_type(args) = 'object' ELSE 0 END),
    args_hash   TEXT NOT NULL,
    asked_hash  TEXT NOT NULL,
    raw_args    TEXT NOT NULL,
    risk        TEXT NOT NULL CHECK (risk IN ('read', 'write_own', 'write_user', 'send', 'send_out', 'danger')),
    plan        TEXT NOT NULL CHECK (plan IN ('none', 'act', 'within', 'delegate', 'ask', 'mail')),
    state       TEXT NOT NULL
                CHECK (state IN ('waiting_approval', 'approved', 'started', 'unknown', 'done', 'failed', 'invalid', 'denied',
                                 'expired', 'cancelled', 'skipped')),
    gated       INTEGER NOT NULL DEFAULT 0 CHECK (gated IN (0, 1)),
    fault       TEXT CHECK (fault IN ('unknown_tool', 'bad_args', 'repeat', 'duplicate', 'limit')),
    repeats     INTEGER NOT NULL DEFAULT 1,
    attempt     INTEGER NOT NULL DEFAULT 0,
    idem_key    TEXT NOT NULL UNIQUE,
    not_before  INTEGER NOT NULL DEFAULT 0,
    child       TEXT,
    result      TEXT,
    result_hash TEXT,
    whole       TEXT,
    ok          INTEGER CHECK (ok IN (0, 1)),
    note        TEXT NOT NULL DEFAULT '',
    untrusted   INTEGER NOT NULL DEFAULT 0 CHECK (untrusted IN (0, 1)),
    source      TEXT NOT NULL DEFAULT '',
    files       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
    created     INTEGER NOT NULL,
    started     INTEGER,
    ended       INTEGER, progress TEXT NOT NULL DEFAULT '', asked TEXT CHECK (asked IS NULL OR json_valid(asked)),
    UNIQUE (run, seq, idx),
    CHECK ((state IN ('waiting_approval', 'approved', 'started', 'unknown')) = (ended IS NULL)),
    CHECK ((ended IS NULL) = (result IS NULL))
) STRICT;

CREATE INDEX tool_calls_open ON tool_calls (run, state) WHERE ended IS NULL;
CREATE INDEX tool_calls_same ON tool_calls (run, tool, args_hash);

CREATE TRIGGER tool_calls_end_once BEFORE UPDATE ON tool_calls
WHEN OLD.ended IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'a call that has ended stays ended');
END;

CREATE TABLE taints (
    run    TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (run, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE requests (
    id       TEXT PRIMARY KEY,
    account  INTEGER NOT NULL,
    run      TEXT NOT NULL,
    agent    TEXT NOT NULL,
    thread   TEXT NOT NULL,
    kind     TEXT NOT NULL CHECK (kind IN ('approval', 'question', 'unknown')),
    code     TEXT NOT NULL,
    token    TEXT NOT NULL UNIQUE,
    revision INTEGER NOT NULL,
    grantable INTEGER NOT NULL CHECK (grantable IN (0, 1)),
    state    TEXT NOT NULL
             CHECK (state IN ('open', 'approved', 'rejected', 'mixed', 'answered', 'edited', 'superseded', 'expired', 'cancelled',
                              'confirmed', 'skipped')),
    shown    TEXT NOT NULL CHECK (json_valid(shown)),
    key      TEXT NOT NULL UNIQUE,
    created  INTEGER NOT NULL,
    expires  INTEGER NOT NULL,
    remind_at INTEGER,
    decided  INTEGER,
    by       TEXT,
    via      TEXT,
    CHECK ((state = 'open') = (decided IS NULL))
) STRICT;

CREATE INDEX requests_open ON requests (account, state) WHERE state = 'open';
CREATE INDEX requests_code ON requests (account, code);
CREATE INDEX requests_run ON requests (run);

CREATE TRIGGER requests_close_once BEFORE UPDATE OF state ON requests
WHEN OLD.state <> 'open' AND NEW.state IS NOT OLD.state
BEGIN
    SELECT RAISE(ABORT, 'a request that was decided stays decided');
END;

CREATE TABLE approvals (
    id        TEXT PRIMARY KEY,
    request   TEXT NOT NULL REFERENCES requests (id) ON DELETE CASCADE,
    call      TEXT NOT NULL,
    number    INTEGER NOT NULL,
    revision  INTEGER NOT NULL,
    args_hash TEXT NOT NULL,
    def_hash  TEXT NOT NULL,
    state     TEXT NOT NULL
              CHECK (state IN ('pending', 'approved', 'edited', 'rejected', 'answered', 'expired', 'cancelled', 'superseded',
                               'confirmed', 'skipped')),
    comment   TEXT NOT NULL DEFAULT '',
    by        TEXT,
    via       TEXT,
    decided   INTEGER,
    spent_at  INTEGER,
    UNIQUE (call, revision),
    UNIQUE (request, number),
    CHECK ((state = 'pending') = (decided IS NULL)),
    CHECK (spent_at IS NULL OR state = 'approved')
) STRICT;

CREATE TRIGGER approvals_spend_once BEFORE UPDATE OF spent_at ON approvals
WHEN OLD.spent_at IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'an approval is spent once');
END;

CREATE TRIGGER approvals_decide_once BEFORE UPDATE OF state ON approvals
WHEN OLD.state NOT IN ('pending', NEW.state) AND NOT (OLD.state = 'approved' AND NEW.state = 'superseded' AND OLD.spent_at IS NULL)
BEGIN
    SELECT RAISE(ABORT, 'an approval is decided once');
END;

CREATE TABLE grants (
    id       TEXT PRIMARY KEY,
    account  INTEGER NOT NULL,
    agent    TEXT NOT NULL,
    tool     TEXT NOT NULL,
    def_hash TEXT NOT NULL,
    args     TEXT NOT NULL CHECK (json_valid(args)),
    args_hash TEXT NOT NULL,
    uses_left INTEGER NOT NULL CHECK (uses_left >= 0),
    expires  INTEGER NOT NULL,
    approval TEXT NOT NULL,
    created  INTEGER NOT NULL,
    revoked  INTEGER
) STRICT;

CREATE INDEX grants_match ON grants (account, agent, tool, args_hash);

CREATE TABLE "outbox" (
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

CREATE INDEX outbox_run ON outbox (run);
CREATE INDEX outbox_series ON outbox (series) WHERE series IS NOT NULL;
CREATE INDEX outbox_ref ON outbox (account, ref) WHERE ref IS NOT NULL;
CREATE INDEX outbox_thread ON outbox (account, thread);
CREATE INDEX outbox_letters ON outbox (state) WHERE state = 'queued' AND kind <> 'mail';
CREATE INDEX outbox_mails ON outbox (next_at) WHERE state = 'queued' AND kind = 'mail';
CREATE INDEX outbox_unfinished ON outbox (state) WHERE kind = 'mail' AND state IN ('sending', 'data_sent');
CREATE INDEX outbox_call ON outbox (call) WHERE call IS NOT NULL;
CREATE INDEX outbox_request ON outbox (request) WHERE request IS NOT NULL;
CREATE INDEX outbox_sent ON outbox (account, agent, updated) WHERE kind = 'mail';

CREATE TABLE own_ids (
    account    INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    key        TEXT NOT NULL,
    PRIMARY KEY (account, message_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE recipients (
    account INTEGER NOT NULL,
    address TEXT NOT NULL,
    first   INTEGER NOT NULL,
    PRIMARY KEY (account, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
    day        TEXT NOT NULL,
    account    INTEGER NOT NULL,
    agent      TEXT NOT NULL,
    reserved_u INTEGER NOT NULL DEFAULT 0 CHECK (reserved_u >= 0),
    spent_u    INTEGER NOT NULL DEFAULT 0 CHECK (spent_u >= 0),
    tokens     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, account, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
    sha  TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;

CREATE TABLE audit (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    account INTEGER NOT NULL,
    what    TEXT NOT NULL,
    run     TEXT,
    subject TEXT,
    facts   TEXT NOT NULL CHECK (json_valid(facts))
) STRICT;

CREATE INDEX audit_account ON audit (account, seq);
CREATE INDEX audit_refused ON audit (account, at) WHERE what = 'outside.refused';

CREATE TRIGGER audit_append_only BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

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

CREATE INDEX fires_run ON fires (run) WHERE run IS NOT NULL;
CREATE INDEX fires_hash ON fires (trigger, hash, at) WHERE hash <> '';
CREATE INDEX fires_at ON fires (trigger, at);
CREATE INDEX fires_waiting ON fires (trigger, due) WHERE state = 'waiting';
CREATE INDEX runs_open ON runs (account, thread) WHERE ended IS NULL;

CREATE TABLE tool_defs (
    server     TEXT NOT NULL,
    name       TEXT NOT NULL,
    hash       TEXT NOT NULL,
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    drift      TEXT CHECK (drift IS NULL OR json_valid(drift)),
    drift_hash TEXT,
    state      TEXT NOT NULL CHECK (state IN ('new', 'approved')),
    risk       TEXT NOT NULL CHECK (risk IN ('read', 'write_own', 'write_user', 'send', 'send_out', 'danger')),
    present    INTEGER NOT NULL DEFAULT 1 CHECK (present IN (0, 1)),
    first      INTEGER NOT NULL,
    updated    INTEGER NOT NULL,
    PRIMARY KEY (server, name),
    CHECK ((drift IS NULL) = (drift_hash IS NULL))
) STRICT, WITHOUT ROWID;

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
    account INTEGER NOT NULL,
    sha     TEXT NOT NULL,
    PRIMARY KEY (account, sha)
) STRICT, WITHOUT ROWID;

CREATE TABLE seconds (
    request  TEXT PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
    approver TEXT NOT NULL,
    account  INTEGER,
    token    TEXT NOT NULL UNIQUE,
    key      TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE INDEX seconds_account ON seconds (account) WHERE account IS NOT NULL;

CREATE TABLE votes (
    item TEXT NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
    seat TEXT NOT NULL CHECK (seat IN ('owner', 'second')),
    by   TEXT NOT NULL,
    via  TEXT NOT NULL,
    at   INTEGER NOT NULL,
    PRIMARY KEY (item, seat)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER approvals_need_both BEFORE UPDATE OF state ON approvals
WHEN NEW.state = 'approved' AND EXISTS (SELECT 1 FROM seconds WHERE request = NEW.request)
     AND (SELECT count(*) FROM votes WHERE item = NEW.id) < 2
BEGIN
    SELECT RAISE(ABORT, 'two people must approve this');
END;

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
