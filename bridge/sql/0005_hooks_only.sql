-- Passwords that send to mail hooks and do nothing else.
ALTER TABLE passwords ADD COLUMN hooks_only INTEGER NOT NULL DEFAULT 0 CHECK (hooks_only IN (0, 1));
