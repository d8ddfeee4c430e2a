-- name: put
-- Keeps bytes under their hash, once.
INSERT INTO blobs (sha, size, data) VALUES (:sha, :size, :data) ON CONFLICT (sha) DO NOTHING;

-- name: get
-- The bytes of a hash.
SELECT data FROM blobs WHERE sha = :sha;

-- name: forget
-- Deletes bytes that no call and no mail names any more.
DELETE FROM blobs WHERE sha NOT IN (
    SELECT whole FROM tool_calls WHERE whole IS NOT NULL
    UNION SELECT value ->> 'sha' FROM tool_calls, json_each(tool_calls.files)
    UNION SELECT value ->> 'sha' FROM outbox, json_each(outbox.body, '$.files')
    UNION SELECT value ->> 'sha' FROM outbox, json_each(outbox.body, '$.outside_files'));
