-- Which stored message shows a series (the Activity message of a run): the next state takes its place.
CREATE TABLE shown (
    account INTEGER NOT NULL,
    series TEXT NOT NULL,
    email INTEGER NOT NULL,
    PRIMARY KEY (account, series)
) STRICT, WITHOUT ROWID;
