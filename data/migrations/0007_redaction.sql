-- A message keeps what was said, but for a redaction: then its text goes and nothing else of it changes.
ALTER TABLE message ADD COLUMN redacted_at INTEGER;
DROP TRIGGER message_kept;
CREATE TRIGGER message_kept BEFORE UPDATE ON message
WHEN NOT (new.text = '' AND old.redacted_at IS NULL AND new.redacted_at IS NOT NULL
  AND (new.seq, new.message, new.channel, new.number, new.author, new.principal, new.created_at)
    IS (old.seq, old.message, old.channel, old.number, old.author, old.principal, old.created_at)) BEGIN
  SELECT RAISE(ABORT, 'messages are append-only');
END;
