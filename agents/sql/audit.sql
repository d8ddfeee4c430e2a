-- name: add
-- Adds a row to the trail.
INSERT INTO audit (at, account, what, run, subject, facts) VALUES (:at, :account, :what, :run, :subject, :facts);

-- name: of_account
-- The newest rows of an account.
SELECT seq, at, what, run, subject, facts FROM audit WHERE account = :account ORDER BY seq DESC LIMIT :limit;
