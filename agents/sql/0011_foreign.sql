-- What is not the owner's own stays so when its folder is granted anew, or when it is put into another one.

ALTER TABLE foreign_files RENAME TO foreign_files_of_grants;

CREATE TABLE foreign_files (
    account INTEGER NOT NULL,
    sha     TEXT NOT NULL,
    PRIMARY KEY (account, sha)
) STRICT, WITHOUT ROWID;

INSERT INTO foreign_files (account, sha)
SELECT DISTINCT f.account, g.sha FROM foreign_files_of_grants AS g JOIN folders AS f ON f.id = g.folder;

DROP TABLE foreign_files_of_grants;
