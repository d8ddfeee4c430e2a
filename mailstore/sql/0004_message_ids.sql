-- The Message-ID is found by the content, which has it already: copies need not repeat it, or its index.

DROP INDEX email_message_id;
ALTER TABLE email DROP COLUMN message_id;
CREATE INDEX content_message_id ON content (message_id) WHERE message_id IS NOT NULL;
