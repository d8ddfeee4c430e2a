-- name: state
SELECT value FROM state WHERE name = :name;

-- name: set-state
UPDATE state SET value = :value WHERE name = :name;

-- name: add
INSERT OR REPLACE INTO doc (content, head, parts, body) VALUES (:content, :head, :parts, :body);

-- name: add-words
INSERT INTO word (rowid, head, parts, body) VALUES (:content, :head, :parts, :body);

-- name: get
SELECT content, head, parts, body FROM doc WHERE content IN (SELECT value FROM json_each(:contents));

-- name: remove-words
INSERT INTO word (word, rowid, head, parts, body) VALUES ('delete', :content, :head, :parts, :body);

-- name: remove
DELETE FROM doc WHERE content IN (SELECT value FROM json_each(:contents));

-- name: match-text
-- Preselected by trigrams; in the header, a part's header or the text.
SELECT d.content FROM word w JOIN doc d ON d.content = w.rowid
WHERE word MATCH :trigrams AND (instr(d.body, :needle) OR instr(d.head, :needle) OR instr(d.parts, :needle));

-- name: match-body
SELECT d.content FROM word w JOIN doc d ON d.content = w.rowid
WHERE word MATCH :trigrams AND instr(d.body, :needle);

-- name: match-head
SELECT d.content, d.head FROM word w JOIN doc d ON d.content = w.rowid
WHERE word MATCH :trigrams AND instr(d.head, :needle);

-- name: scan-text
-- For needles too short for trigrams.
SELECT content FROM doc
WHERE instr(body, :needle) OR instr(head, :needle) OR instr(parts, :needle);

-- name: scan-body
SELECT content FROM doc WHERE instr(body, :needle);

-- name: scan-head
SELECT content, head FROM doc WHERE instr(head, :needle);

-- name: check
-- Raises when the words do not agree with the documents.
INSERT INTO word (word, rank) VALUES ('integrity-check', 1);
