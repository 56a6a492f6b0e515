-- Vectors of records. The truth is in these ordinary rows; what searches them is made from them and kept in memory.

CREATE TABLE mem_embedder (    -- everybody who made vectors here
  embedder INTEGER PRIMARY KEY,
  identity TEXT NOT NULL UNIQUE,   -- model, dimension, normalisation, recipe, digest: only equals are compared
  probe BLOB NOT NULL          -- its vector of a known text: another model under the same name is found out
) STRICT;

CREATE TABLE mem_space (       -- whose vectors are searched on a shelf
  shelf TEXT PRIMARY KEY,
  embedder INTEGER NOT NULL REFERENCES mem_embedder (embedder),
  wanted INTEGER REFERENCES mem_embedder (embedder)  -- a rebuild with this one is under way
) STRICT, WITHOUT ROWID;

CREATE TABLE mem_vector (
  embedder INTEGER NOT NULL REFERENCES mem_embedder (embedder),
  seq INTEGER NOT NULL REFERENCES mem_record (seq),
  revision INTEGER NOT NULL,
  vector BLOB NOT NULL,        -- float16 numbers of length 1
  PRIMARY KEY (embedder, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX mem_vector_seq ON mem_vector (seq);

CREATE TABLE mem_token (       -- vectors of single tokens, where the model offers them: int8, 127 stands for `scale`
  seq INTEGER NOT NULL REFERENCES mem_record (seq),
  embedder INTEGER NOT NULL REFERENCES mem_embedder (embedder),
  scale REAL NOT NULL,
  tokens BLOB NOT NULL,
  PRIMARY KEY (seq, embedder)
) STRICT;

-- What changed, in order, for the indexes in memory. Emptied when a daemon starts: it holds none then.
CREATE TABLE mem_moved (
  moved INTEGER PRIMARY KEY AUTOINCREMENT,
  shelf INTEGER NOT NULL,
  seq INTEGER NOT NULL
) STRICT;
CREATE INDEX mem_moved_shelf ON mem_moved (shelf, moved);
CREATE TRIGGER mem_indexed_came AFTER INSERT ON mem_indexed BEGIN
  INSERT INTO mem_moved (shelf, seq) VALUES (NEW.shelf, NEW.seq);
END;
CREATE TRIGGER mem_indexed_went AFTER DELETE ON mem_indexed BEGIN
  INSERT INTO mem_moved (shelf, seq) VALUES (OLD.shelf, OLD.seq);
END;
CREATE TRIGGER mem_vector_came AFTER INSERT ON mem_vector BEGIN
  INSERT INTO mem_moved (shelf, seq) SELECT shelf, NEW.seq FROM mem_indexed WHERE seq = NEW.seq;
END;
CREATE TRIGGER mem_vector_went AFTER DELETE ON mem_vector BEGIN
  INSERT INTO mem_moved (shelf, seq) SELECT shelf, OLD.seq FROM mem_indexed WHERE seq = OLD.seq;
END;
