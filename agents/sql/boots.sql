-- name: add
-- Records a start of the program; its id owns the leases of this start.
INSERT INTO boots (boot, started) VALUES (:boot, :now);
