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
-- Bytes in a folder that are not the owner's own.
INSERT INTO foreign_files (folder, sha) VALUES (:folder, :sha) ON CONFLICT DO NOTHING;

-- name: is_marked
-- Whether bytes in a folder are not the owner's own.
SELECT 1 FROM foreign_files WHERE folder = :folder AND sha = :sha;

-- name: forget_account
-- Takes back everything of an account that is removed.
DELETE FROM folders WHERE account = :account;
