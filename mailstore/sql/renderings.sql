-- name: stored
-- One kind of rendering of the contents in these ranges ([[first, last], ...], ascending).
SELECT r.content, r.bytes
FROM json_each(:ranges) j
CROSS JOIN rendered r ON r.rendering = (SELECT id FROM rendering WHERE name = :name)
    AND r.content BETWEEN json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]');

-- name: marks
SELECT name, mark FROM rendering;

-- name: set-mark
-- Says that this kind is stored of all contents up to the mark.
INSERT INTO rendering (name, mark) VALUES (:name, :mark) ON CONFLICT (name) DO UPDATE SET mark = max(mark, :mark);

-- name: insert
-- Stores a rendering of a content that is still there.
INSERT OR IGNORE INTO rendered (rendering, content, bytes)
SELECT r.id, c.id, :bytes FROM rendering r, content c WHERE r.name = :name AND c.id = :content;
