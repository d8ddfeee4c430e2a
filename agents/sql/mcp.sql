-- name: all
-- Every pinned tool of every server.
SELECT * FROM tool_defs ORDER BY server, name;

-- name: of_server
-- The pinned tools of one server.
SELECT * FROM tool_defs WHERE server = :server ORDER BY name;

-- name: get
-- One pinned tool.
SELECT * FROM tool_defs WHERE server = :server AND name = :name;

-- name: add
-- Pins a tool at first sight.
INSERT INTO tool_defs (server, name, hash, definition, state, risk, present, first, updated)
VALUES (:server, :name, :hash, :definition, 'new', :risk, 1, :now, :now);

-- name: seen
-- A pinned tool is there and reads so now; no drift when it reads as it was pinned.
UPDATE tool_defs SET present = 1, drift = :drift, drift_hash = :drift_hash, updated = :now WHERE server = :server AND name = :name;

-- name: absent
-- A pinned tool is not there any more; its pin stays for the day it comes back.
UPDATE tool_defs SET present = 0, updated = :now WHERE server = :server AND name = :name AND present = 1;

-- name: approve
-- The user has looked at a tool as it reads now, and has said what it may do.
UPDATE tool_defs SET hash = coalesce(drift_hash, hash), definition = coalesce(drift, definition), drift = NULL, drift_hash = NULL,
                     state = 'approved', risk = :risk, updated = :now
WHERE server = :server AND name = :name AND coalesce(drift_hash, hash) = :hash;
