-- What is left of messages that were destroyed is collected later.
CREATE TABLE destroyed (
    email INTEGER PRIMARY KEY                -- in no mailbox any more; its row is deleted later
) STRICT;
