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

-- name: by_day
-- What an account's agents have spent by day, oldest first; `unknown`: a price was not known, and an assumed one counts.
SELECT l.day, l.agent, l.spent_u, l.reserved_u, l.tokens,
       (SELECT count(*) FROM model_calls AS m JOIN runs AS r ON r.id = m.run
        WHERE m.day = l.day AND r.account = l.account AND r.agent = l.agent) AS calls,
       EXISTS (SELECT 1 FROM model_calls AS m JOIN runs AS r ON r.id = m.run
               WHERE m.day = l.day AND r.account = l.account AND r.agent = l.agent AND r.cost_unknown = 1) AS unknown
FROM ledger AS l WHERE l.account = :account AND l.day >= :since ORDER BY l.day, l.agent;

-- name: by_model
-- What an account's models have cost since a day, the dearest first (of tasks that were not deleted since).
SELECT m.model, count(*) AS calls, coalesce(sum(m.tok_in), 0) AS tok_in, coalesce(sum(m.tok_out), 0) AS tok_out,
       coalesce(sum(m.cost_u), 0) AS cost_u
FROM model_calls AS m JOIN runs AS r ON r.id = m.run
WHERE r.account = :account AND m.day >= :since GROUP BY m.model ORDER BY cost_u DESC, calls DESC;
