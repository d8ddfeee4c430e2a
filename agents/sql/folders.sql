-- name: add
-- Grants a folder.
INSERT INTO folders (id, account, agent, name, path, writes, own, created)
VALUES (:id, :account, :agent, :name, :path, :writes, :own, :now);

-- name: of_account
-- The granted folders of an account.
SELECT * FROM folders WHERE account = :account ORDER BY name;

-- name: remove
-- Takes a grant back.
DELETE FROM folders WHERE id = :id;

-- name: mark
-- Bytes that are not the owner's own, in whatever folder they are found.
INSERT INTO foreign_files (account, sha) VALUES (:account, :sha) ON CONFLICT DO NOTHING;

-- name: is_marked
-- Whether bytes are not the owner's own.
SELECT 1 FROM foreign_files WHERE account = :account AND sha = :sha;

-- name: forget_account
-- Takes back everything of an account that is removed.
DELETE FROM folders WHERE account = :account;

-- name: forget_marks
-- Forgets which bytes were not the own ones of an account that is removed.
DELETE FROM foreign_files WHERE account = :account;
