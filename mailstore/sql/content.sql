-- name: by-hash
SELECT id FROM content WHERE hash = :hash;

-- name: next-id
-- The id the next content will have.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'content'), 0) + 1;

-- name: insert
-- Stores what is known of some bytes, unless they are there already.
INSERT INTO content (id, hash, size, header_size, message_id, subject, base_subject, sent, sent_day)
VALUES (:id, :hash, :size, :header_size, :message_id, :subject, :base_subject, :sent, :sent_day)
ON CONFLICT (hash) DO NOTHING;

-- name: insert-chunk
INSERT INTO content_chunk (id, data) VALUES (:id, :data);

-- name: chunks
-- The chunks of a content from one number to another.
SELECT id, data FROM content_chunk WHERE id BETWEEN :first AND :last ORDER BY id;

-- name: chunk
SELECT data FROM content_chunk WHERE id = :id;

-- name: chunk-size
SELECT length(data) FROM content_chunk WHERE id = :id;

-- name: first-chunks
-- The first chunk of each of the contents in these ranges ([[first, last], ...], ascending).
SELECT k.id >> 16, k.data
FROM json_each(:ranges) j
CROSS JOIN content_chunk k
    ON k.id BETWEEN json_extract(j.value, '$[0]') << 16 AND json_extract(j.value, '$[1]') << 16
WHERE k.id & 65535 = 0;

-- name: heads
-- The headers of these contents; NULL where one is longer than its first chunk.
SELECT c.id, CASE WHEN c.header_size <= length(k.data) THEN substr(k.data, 1, c.header_size) END AS header
FROM json_each(:contents) j
CROSS JOIN content c ON c.id = j.value
JOIN content_chunk k ON k.id = c.id << 16;

-- name: orphan
-- These contents may have lost their last message.
INSERT OR IGNORE INTO orphan (content) SELECT value FROM json_each(:contents);

-- name: orphans
-- Contents to look at, and whether a message still has them.
SELECT o.content, EXISTS (SELECT 1 FROM email e WHERE e.content = o.content) AS used
FROM orphan o ORDER BY o.content LIMIT :limit;

-- name: forget-orphans
DELETE FROM orphan WHERE content IN (SELECT value FROM json_each(:contents));

-- name: delete-chunks
DELETE FROM content_chunk WHERE id IN (
    SELECT k.id FROM json_each(:contents) j
    CROSS JOIN content_chunk k ON k.id BETWEEN j.value << 16 AND (j.value << 16) + 65535
);

-- name: delete-rendered
DELETE FROM rendered WHERE (rendering, content) IN (
    SELECT r.id, j.value FROM rendering r, json_each(:contents) j
);

-- name: delete
DELETE FROM content WHERE id IN (SELECT value FROM json_each(:contents));
