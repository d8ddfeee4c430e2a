-- name: of
-- What is noted of one thing.
SELECT entry, value FROM annotation
WHERE account = :account AND kind = :kind AND target = :target ORDER BY entry;

-- name: put
INSERT INTO annotation (account, kind, target, entry, value) VALUES (:account, :kind, :target, :entry, :value)
ON CONFLICT (account, kind, target, entry) DO UPDATE SET value = excluded.value;

-- name: drop
DELETE FROM annotation WHERE account = :account AND kind = :kind AND target = :target AND entry = :entry;
