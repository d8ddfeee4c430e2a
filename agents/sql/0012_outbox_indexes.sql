-- What is asked of the outbox is found by an index however much was sent before: the planner never took the old one, whose
-- condition is none that a query names. So are refused mails from outside, and what somebody is the second approver of.

DROP INDEX outbox_queued;
CREATE INDEX outbox_thread ON outbox (account, thread);
CREATE INDEX outbox_letters ON outbox (state) WHERE state = 'queued' AND kind <> 'mail';
CREATE INDEX outbox_mails ON outbox (next_at) WHERE state = 'queued' AND kind = 'mail';
CREATE INDEX outbox_unfinished ON outbox (state) WHERE kind = 'mail' AND state IN ('sending', 'data_sent');
CREATE INDEX outbox_call ON outbox (call) WHERE call IS NOT NULL;
CREATE INDEX outbox_request ON outbox (request) WHERE request IS NOT NULL;
CREATE INDEX outbox_sent ON outbox (account, agent, updated) WHERE kind = 'mail';
CREATE INDEX audit_refused ON audit (account, at) WHERE what = 'outside.refused';
CREATE INDEX seconds_account ON seconds (account) WHERE account IS NOT NULL;
