-- Who wrote from outside about a request, so that the end of its task is told there too; such ends as mail of their own.

ALTER TABLE outside_asks ADD COLUMN answered_by TEXT;
ALTER TABLE outside_asks ADD COLUMN answered_id TEXT;
ALTER TABLE outside_asks ADD COLUMN answered_at INTEGER;

ALTER TABLE outside_mail RENAME TO outside_mail_before;
DROP INDEX outside_mail_queued;

CREATE TABLE outside_mail (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('ask', 'again', 'answer', 'result')),
    request TEXT NOT NULL,
    key TEXT NOT NULL DEFAULT '',
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '',
    in_reply_to TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sent', 'failed', 'needless')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL,
    reply TEXT NOT NULL DEFAULT '',
    created INTEGER NOT NULL,
    UNIQUE (request, kind, in_reply_to, key)
) STRICT;

INSERT INTO outside_mail (id, account, kind, request, recipient, subject, body, in_reply_to, state, attempts, next_at, reply, created)
SELECT id, account, kind, request, recipient, subject, body, in_reply_to, state, attempts, next_at, reply, created
FROM outside_mail_before;

DROP TABLE outside_mail_before;

CREATE INDEX outside_mail_queued ON outside_mail (next_at) WHERE state = 'queued';
CREATE INDEX outside_mail_lately ON outside_mail (account, kind, created);
