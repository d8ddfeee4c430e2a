-- A second person who must approve: who, under which token, and the approvals of both, item by item.

CREATE TABLE seconds (
    request  TEXT PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE,
    approver TEXT NOT NULL,
    account  INTEGER,
    token    TEXT NOT NULL UNIQUE,
    key      TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

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
