-- name: add
-- Keeps a new password's hash.
INSERT INTO passwords (account, label, selector, hash, created, hooks_only)
VALUES (:account, :label, :selector, :hash, :now, :hooks_only);

-- name: labelled
-- The password of a label.
SELECT id FROM passwords WHERE account = :account AND label = :label;

-- name: candidates
-- What a typed password could be: the generated one with its selector, and every chosen one.
SELECT id, label, selector, hash FROM passwords
WHERE account = :account AND (selector = :selector OR selector IS NULL)
ORDER BY selector IS NULL, id;

-- name: get
-- One password that still stands.
SELECT id, account, label, hooks_only FROM passwords WHERE id = :id;

-- name: all
-- Every password of an account, oldest first.
SELECT id, label, selector IS NOT NULL AS made, created, used, hooks_only FROM passwords WHERE account = :account ORDER BY id;

-- name: used
-- Notes when a password was last used; at most once an hour, a login should cost no disk sync.
UPDATE passwords SET used = :now WHERE id = :id AND (used IS NULL OR used < :now - 3600000);

-- name: stale
-- Whether `used` would change anything.
SELECT 1 FROM passwords WHERE id = :id AND (used IS NULL OR used < :now - 3600000);

-- name: revoke
-- Takes a password away.
DELETE FROM passwords WHERE account = :account AND label = :label;

-- name: revoke-all
-- Takes every password of an account away (the account is being removed).
DELETE FROM passwords WHERE account = :account;
