-- name: add
-- A standing leave for one tool with exactly these arguments.
INSERT INTO grants (id, account, agent, tool, def_hash, args, args_hash, uses_left, expires, approval, created)
VALUES (:id, :account, :agent, :tool, :def_hash, :args, :args_hash, :uses, :expires, :approval, :now);

-- name: find
-- A leave that fits exactly and still holds.
SELECT id FROM grants
WHERE account = :account AND agent = :agent AND tool = :tool AND args_hash = :args_hash AND def_hash = :def_hash
  AND uses_left > 0 AND expires > :now AND revoked IS NULL
ORDER BY expires LIMIT 1;

-- name: use
-- Uses a leave once.
UPDATE grants SET uses_left = uses_left - 1 WHERE id = :id AND uses_left > 0 AND expires > :now AND revoked IS NULL;

-- name: of_account
-- The leaves of an account that still hold.
SELECT id, agent, tool, args, uses_left, expires, created FROM grants
WHERE account = :account AND revoked IS NULL AND uses_left > 0 AND expires > :now ORDER BY created;

-- name: revoke
-- Takes a leave back.
UPDATE grants SET revoked = :now WHERE id = :id AND account = :account AND revoked IS NULL;
