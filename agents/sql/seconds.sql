-- name: add
-- Another person must approve a request too.
INSERT INTO seconds (request, approver, account, token, key) VALUES (:request, :approver, :account, :token, :key);

-- name: get
-- The second approver of a request.
SELECT * FROM seconds WHERE request = :request;

-- name: by_token
-- The request that a second approver was asked about under a token.
SELECT s.* FROM seconds AS s WHERE s.token = :token AND s.account = :account;

-- name: by_code
-- The newest request with a code that somebody is the second approver of; an open one before all others.
SELECT s.* FROM seconds AS s JOIN requests AS r ON r.id = s.request
WHERE r.code = :code AND s.account = :account ORDER BY (r.state = 'open') DESC, r.rowid DESC LIMIT 1;

-- name: by_message
-- The request that a mail of ours showed to its second approver.
SELECT s.* FROM outbox AS o JOIN seconds AS s ON s.request = o.request
WHERE o.message_id = :message_id AND o.account = :account AND s.account = :account;

-- name: request
-- A request, whoever's it is.
SELECT * FROM requests WHERE id = :request;

-- name: vote
-- Notes that one of the two approves an item, once.
INSERT INTO votes (item, seat, by, via, at) VALUES (:item, :seat, :by, :via, :now) ON CONFLICT DO NOTHING;

-- name: votes
-- Who approved an item, in the order in which they did.
SELECT seat, by, via, at FROM votes WHERE item = :item ORDER BY at, seat;

-- name: waits_for
-- Whether an item of a request still waits for the word of one of the two.
SELECT 1 FROM approvals AS a WHERE a.request = :request AND a.state = 'pending'
  AND NOT EXISTS (SELECT 1 FROM votes AS v WHERE v.item = a.id AND v.seat = :seat) LIMIT 1;
