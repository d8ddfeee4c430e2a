-- name: reserve
-- Sets money aside for a model call.
INSERT INTO ledger (day, account, agent, reserved_u) VALUES (:day, :account, :agent, :amount)
ON CONFLICT (day, account, agent) DO UPDATE SET reserved_u = reserved_u + :amount;

-- name: settle
-- Turns what was set aside into what was spent.
UPDATE ledger SET reserved_u = reserved_u - :reserved, spent_u = spent_u + :spent, tokens = tokens + :tokens
WHERE day = :day AND account = :account AND agent = :agent;

-- name: of_agent
-- What an agent has spent and set aside on a day.
SELECT coalesce(sum(reserved_u + spent_u), 0) FROM ledger WHERE day = :day AND agent = :agent;

-- name: of_day
-- What all agents have spent and set aside on a day.
SELECT coalesce(sum(reserved_u + spent_u), 0) FROM ledger WHERE day = :day;
