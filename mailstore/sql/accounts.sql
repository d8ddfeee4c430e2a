-- name: all
SELECT id, name, address, object_id FROM accounts ORDER BY id;

-- name: get
SELECT id, name, address, object_id FROM accounts WHERE id = :account;

-- name: find
-- By login name, or by the full address.
SELECT id, name, address, object_id FROM accounts
WHERE name = :login OR address = :login ORDER BY name = :login DESC LIMIT 1;

-- name: create
INSERT INTO accounts (name, address, object_id) VALUES (:name, :address, :object_id);

-- name: orphan-content
-- Its content may be kept by no other account.
INSERT OR IGNORE INTO orphan SELECT DISTINCT content FROM email WHERE account = :account;

-- name: remove-placements
DELETE FROM placement WHERE mailbox IN (SELECT id FROM mailboxes WHERE account = :account);

-- name: remove-lingering
DELETE FROM lingering WHERE mailbox IN (SELECT id FROM mailboxes WHERE account = :account);

-- name: remove-labels
DELETE FROM label WHERE email IN (SELECT id FROM email WHERE account = :account);

-- name: remove-states
DELETE FROM state WHERE email IN (SELECT id FROM email WHERE account = :account);

-- name: remove-destroyed
DELETE FROM destroyed WHERE email IN (SELECT id FROM email WHERE account = :account);

-- name: remove-emails
DELETE FROM email WHERE account = :account;

-- name: remove-threads
DELETE FROM thread WHERE account = :account;

-- name: remove-aliases
DELETE FROM alias WHERE account = :account;

-- name: remove-log
DELETE FROM log WHERE account = :account;

-- name: remove-log-days
DELETE FROM log_day WHERE account = :account;

-- name: remove-deliveries
DELETE FROM delivery WHERE account = :account;

-- name: remove-annotations
DELETE FROM annotation WHERE account = :account;

-- name: remove-keywords
DELETE FROM keyword WHERE account = :account;

-- name: remove-keyword-sets
DELETE FROM keyword_set WHERE account = :account;

-- name: remove-subscriptions
DELETE FROM subscription WHERE account = :account;

-- name: remove-mailboxes
DELETE FROM mailboxes WHERE account = :account;

-- name: remove
DELETE FROM accounts WHERE id = :account;
