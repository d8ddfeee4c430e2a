-- name: get
-- The message that shows a series now.
SELECT email FROM shown WHERE account = :account AND series = :series;

-- name: set
-- Another message shows the series.
INSERT INTO shown (account, series, email) VALUES (:account, :series, :email)
ON CONFLICT (account, series) DO UPDATE SET email = excluded.email;

-- name: forget
-- Nothing shows the series any more.
DELETE FROM shown WHERE account = :account AND series = :series;
