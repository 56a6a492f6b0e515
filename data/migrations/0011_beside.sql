-- Where in its talk the current text of an indexed record was said, in numbers alone: what stands beside a record is
-- asked for with every search, sixty times.

CREATE TABLE mem_beside (
  channel INTEGER NOT NULL REFERENCES channel (seq),
  number INTEGER NOT NULL,     -- of the message, in its channel
  seq INTEGER NOT NULL REFERENCES mem_record (seq),
  PRIMARY KEY (channel, number, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX mem_beside_seq ON mem_beside (seq);

CREATE TRIGGER mem_beside_came AFTER INSERT ON mem_indexed BEGIN
  INSERT OR IGNORE INTO mem_beside SELECT c.seq, m.number, r.seq FROM mem_record r
    JOIN mem_revision v ON v.record = r.record AND v.revision = NEW.revision
    JOIN message m ON m.message = v.message JOIN channel c ON c.channel = m.channel WHERE r.seq = NEW.seq;
END;
CREATE TRIGGER mem_beside_went AFTER DELETE ON mem_indexed
WHEN NOT EXISTS (SELECT 1 FROM mem_indexed WHERE seq = OLD.seq) BEGIN
  DELETE FROM mem_beside WHERE seq = OLD.seq;
END;

INSERT OR IGNORE INTO mem_beside SELECT c.seq, m.number, r.seq FROM mem_indexed i JOIN mem_record r ON r.seq = i.seq
  JOIN mem_revision v ON v.record = r.record AND v.revision = i.revision
  JOIN message m ON m.message = v.message JOIN channel c ON c.channel = m.channel;
