-- A date is searched for by its day as it was given (RFC 3501 section 6.4.4), so what clock gave it is kept.

ALTER TABLE email ADD COLUMN zone INTEGER NOT NULL DEFAULT 0;
