-- name: put
-- Keeps bytes under their hash, once.
INSERT INTO blobs (sha, size, data) VALUES (:sha, :size, :data) ON CONFLICT (sha) DO NOTHING;

-- name: get
-- The bytes of a hash.
SELECT data FROM blobs WHERE sha = :sha;
