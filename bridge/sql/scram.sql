-- name: key
-- What the salts of accounts are made with.
SELECT key FROM scram_key;

-- name: of-account
-- What is kept of the account's passwords for SCRAM, made with so many iterations.
SELECT s.password, s.iterations, s.stored_key, s.server_key
FROM scram s JOIN passwords p ON p.id = s.password
WHERE p.account = :account AND s.iterations = :iterations
ORDER BY s.password, s.form;

-- name: has
-- Whether a password can be used with SCRAM.
SELECT 1 FROM scram WHERE password = :password AND iterations = :iterations;

-- name: keep
-- Keeps what SCRAM needs of one form of a password that still stands.
INSERT OR REPLACE INTO scram (password, form, iterations, stored_key, server_key)
SELECT :password, :form, :iterations, :stored_key, :server_key WHERE EXISTS (SELECT 1 FROM passwords WHERE id = :password);

-- name: kept
-- Whether anything is kept for SCRAM.
SELECT 1 FROM scram LIMIT 1;

-- name: forget-all
-- Forgets all that was kept for SCRAM.
DELETE FROM scram;

-- name: forget
-- Forgets what was kept of passwords that are no more.
DELETE FROM scram WHERE password NOT IN (SELECT id FROM passwords);
