-- What a trigger asks at every delivery costs the same however much came before.

CREATE INDEX fires_at ON fires (trigger, at);
CREATE INDEX fires_waiting ON fires (trigger, due) WHERE state = 'waiting';
CREATE INDEX runs_open ON runs (account, thread) WHERE ended IS NULL;
