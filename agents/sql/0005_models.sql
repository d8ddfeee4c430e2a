-- Models that stand in for others, summaries of long tasks, what is under way, and questions that a server asks within a
-- call. A journal entry may be a summary (the table is put in place anew, as a CHECK cannot be changed).

ALTER TABLE runs ADD COLUMN fallback INTEGER NOT NULL DEFAULT 0;
ALTER TABLE model_calls ADD COLUMN purpose TEXT NOT NULL DEFAULT 'answer' CHECK (purpose IN ('answer', 'compact'));
ALTER TABLE model_calls ADD COLUMN progress TEXT NOT NULL DEFAULT '';
ALTER TABLE tool_calls ADD COLUMN progress TEXT NOT NULL DEFAULT '';
ALTER TABLE tool_calls ADD COLUMN asked TEXT CHECK (asked IS NULL OR json_valid(asked));

CREATE TABLE steps_held AS SELECT * FROM steps;
DROP TABLE steps;

CREATE TABLE steps (
    run  TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('user', 'model', 'results', 'note', 'compact')),
    body TEXT NOT NULL CHECK (json_valid(body)),
    at   INTEGER NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

INSERT INTO steps (run, seq, kind, body, at) SELECT run, seq, kind, body, at FROM steps_held;
DROP TABLE steps_held;

CREATE TRIGGER steps_append_only BEFORE UPDATE ON steps
BEGIN
    SELECT RAISE(ABORT, 'steps are append-only');
END;
