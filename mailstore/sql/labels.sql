-- name: add
INSERT OR IGNORE INTO label (email, name) VALUES (:email, :name);

-- name: remove
DELETE FROM label WHERE email = :email AND name = :name;

-- name: has
SELECT 1 FROM label WHERE email = :email AND name = :name;

-- name: of
SELECT name FROM label WHERE email = :email ORDER BY name;

-- name: on
-- Which of these messages carry labels.
SELECT email, name FROM label WHERE email IN (SELECT value FROM json_each(:emails)) ORDER BY email, name;

-- name: drop
DELETE FROM label WHERE email IN (SELECT value FROM json_each(:emails));

-- name: open
UPDATE state SET open = :open WHERE email = :email;

-- name: account
SELECT account FROM email WHERE id = :email;

-- name: living
-- The message itself, or the copies that stand for it, newest first.
SELECT id FROM email WHERE id = :email AND id NOT IN (SELECT email FROM destroyed)
UNION
SELECT id FROM email WHERE stands_for = :email AND stands_for <> id AND id NOT IN (SELECT email FROM destroyed)
ORDER BY 1 DESC;
