-- The text index: what the mail says, folded for searching. All of it can be made again from the mail.

CREATE TABLE state (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO state VALUES ('mark', 0);          -- every content up to this one is indexed, if it still exists
INSERT INTO state VALUES ('store', 0);         -- of which store

CREATE TABLE doc (
    content INTEGER PRIMARY KEY,
    head TEXT NOT NULL,                        -- the message's own header fields: "\nname: value\nname: value\n"
    parts TEXT NOT NULL,                       -- the header fields of its parts
    body TEXT NOT NULL                         -- its text
) STRICT;

-- Trigrams without positions: they say which messages may match; the text itself decides.
CREATE VIRTUAL TABLE word USING fts5 (
    head, parts, body, content = 'doc', content_rowid = 'content', detail = 'none', tokenize = 'trigram case_sensitive 1'
);
