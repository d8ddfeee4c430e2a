-- The tools of MCP servers as they were first seen or last approved, and how they read now when that differs.

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
