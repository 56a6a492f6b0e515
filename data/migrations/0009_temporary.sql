-- Temporary talk: what is said in it is erased once its answer has arrived. Until then it stands aside, in no index.
ALTER TABLE channel ADD COLUMN temporary INTEGER NOT NULL DEFAULT 0;  -- from the next message on
ALTER TABLE message ADD COLUMN temporary INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn ADD COLUMN temporary INTEGER NOT NULL DEFAULT 0;
CREATE INDEX message_temporary ON message (seq) WHERE temporary = 1 AND redacted_at IS NULL;
CREATE INDEX turn_temporary ON turn (message) WHERE temporary = 1;
