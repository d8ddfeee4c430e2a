-- The number of a keyword set is never given again: what is in memory knows sets by it, also those of an account that
-- was removed.

ALTER TABLE keyword_set RENAME TO keyword_set_before;
CREATE TABLE keyword_set (
    id INTEGER PRIMARY KEY AUTOINCREMENT,    -- 0 is no keyword
    account INTEGER NOT NULL,
    names TEXT NOT NULL,                     -- sorted, separated by one space
    UNIQUE (account, names)
) STRICT;
INSERT INTO keyword_set SELECT id, account, names FROM keyword_set_before;
DROP TABLE keyword_set_before;
