-- Memory: records that belong to a person, every version of them, and the evidence of what was done with them.
--
-- Whatever touches these tables stands in kai/store and asks for a scope. Which rows a scope may see is said once, in
-- kai/store/eligible.py. Words of records are indexed apart for every shelf (a person, a channel, all of them), so that
-- a search costs what its own shelf holds.

CREATE TABLE mem_record (
  seq INTEGER PRIMARY KEY,     -- also its row in the index
  record TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL REFERENCES person (principal),
  namespace TEXT NOT NULL,     -- person/ID/…, channel/ID/…, global/…
  family TEXT NOT NULL DEFAULT '',   -- what it is about; one current record per family
  kind TEXT NOT NULL CHECK (kind IN ('preference', 'fact', 'note', 'howto', 'episode')),
  status TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'forgotten', 'expired', 'candidate')),
  revision INTEGER NOT NULL,   -- the current one
  channel TEXT REFERENCES channel (channel),  -- where it was said
  audience TEXT,               -- a JSON list of who was there, "*" for everybody; NULL: untagged, and invisible
  sensitivity TEXT NOT NULL DEFAULT '',
  agent TEXT NOT NULL DEFAULT '',    -- the agent definition that it came through
  pinned INTEGER NOT NULL DEFAULT 0, -- goes along without being looked for
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX mem_record_owner ON mem_record (owner, status, changed_at);
CREATE INDEX mem_record_pinned ON mem_record (owner, changed_at) WHERE pinned = 1 AND status = 'active';
CREATE UNIQUE INDEX mem_record_family ON mem_record (owner, namespace, family) WHERE family <> '' AND status = 'active';

CREATE TABLE mem_revision (
  record TEXT NOT NULL REFERENCES mem_record (record),
  revision INTEGER NOT NULL,
  content TEXT NOT NULL,       -- empty once it was erased
  digest BLOB NOT NULL,        -- keyed, of the content as it is compared
  origin TEXT NOT NULL
    CHECK (origin IN ('explicit_user', 'auto_run', 'learned', 'import', 'admin', 'agent_note')),
  said_by TEXT NOT NULL,       -- the name at that time
  said_at INTEGER NOT NULL,
  message TEXT REFERENCES message (message),
  op TEXT NOT NULL,
  supersedes INTEGER,
  valid_from INTEGER NOT NULL,
  valid_to INTEGER,
  expires_at INTEGER,
  PRIMARY KEY (record, revision)
) STRICT, WITHOUT ROWID;
CREATE INDEX mem_revision_digest ON mem_revision (digest);
CREATE INDEX mem_revision_expiry ON mem_revision (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX mem_revision_message ON mem_revision (message) WHERE message IS NOT NULL;

CREATE TABLE mem_tombstone (   -- what was forgotten, as a keyed hash: every writer asks here
  owner TEXT NOT NULL REFERENCES person (principal),
  secret BLOB NOT NULL,        -- the key of the hash; one that came with an import keeps its own
  digest BLOB NOT NULL,
  record TEXT NOT NULL,
  buried_at INTEGER NOT NULL,
  lifted_at INTEGER,           -- the person said it again, in words of their own
  PRIMARY KEY (owner, secret, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX mem_tombstone_record ON mem_tombstone (record);

CREATE TABLE mem_receipt (
  owner TEXT NOT NULL REFERENCES person (principal),
  op TEXT NOT NULL,            -- operation id: a repeat answers this receipt
  digest BLOB NOT NULL,        -- keyed, of what was asked
  operation TEXT NOT NULL,
  record TEXT NOT NULL DEFAULT '',
  base INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0,
  outcome TEXT NOT NULL CHECK (outcome IN ('committed', 'rejected', 'conflict', 'noop')),
  reason TEXT NOT NULL DEFAULT '',
  actor TEXT NOT NULL,         -- who did it: the person, or the operator's OS user
  way TEXT NOT NULL,
  turn TEXT REFERENCES turn (turn),
  at INTEGER NOT NULL,
  PRIMARY KEY (owner, op)
) STRICT, WITHOUT ROWID;
CREATE INDEX mem_receipt_at ON mem_receipt (owner, at);
CREATE INDEX mem_receipt_record ON mem_receipt (record);
CREATE INDEX mem_receipt_turn ON mem_receipt (turn) WHERE turn IS NOT NULL;

CREATE TABLE mem_edge (        -- a derived record holds only while every source stands as it was
  derived TEXT NOT NULL REFERENCES mem_record (record),
  source TEXT NOT NULL REFERENCES mem_record (record),
  revision INTEGER NOT NULL,
  PRIMARY KEY (derived, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX mem_edge_source ON mem_edge (source);

CREATE TABLE mem_grant (       -- an owner's explicit widening
  grant_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL REFERENCES person (principal),
  record TEXT REFERENCES mem_record (record),
  namespace TEXT,              -- or all of a namespace
  channel TEXT REFERENCES channel (channel),
  principal TEXT REFERENCES person (principal),
  from_at INTEGER NOT NULL,
  until INTEGER,
  revoked_at INTEGER,
  CHECK ((record IS NULL) <> (namespace IS NULL)),
  CHECK ((channel IS NULL) <> (principal IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX mem_grant_owner ON mem_grant (owner) WHERE revoked_at IS NULL;

CREATE TABLE mem_audit (       -- who read or wrote what, with nothing of its text; searches without a hit too
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  principal TEXT NOT NULL,     -- for whom
  channel TEXT,
  namespace TEXT NOT NULL,
  action TEXT NOT NULL,
  way TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  eligible INTEGER NOT NULL DEFAULT 0,
  hits INTEGER NOT NULL DEFAULT 0,
  submitted INTEGER NOT NULL DEFAULT 0,
  turn TEXT
) STRICT;
CREATE INDEX mem_audit_principal ON mem_audit (principal, seq);

CREATE TABLE mem_exposure (    -- which revision a session was sent
  session TEXT NOT NULL REFERENCES session (session),
  record TEXT NOT NULL REFERENCES mem_record (record),
  revision INTEGER NOT NULL,
  dispatch TEXT NOT NULL REFERENCES dispatch (dispatch),
  held INTEGER NOT NULL DEFAULT 1,   -- 0: the session may have lost it in a compaction
  PRIMARY KEY (session, record, revision, dispatch)
) STRICT, WITHOUT ROWID;
CREATE INDEX mem_exposure_record ON mem_exposure (record);
CREATE INDEX mem_exposure_dispatch ON mem_exposure (dispatch);

-- One index a shelf, `mem_index_SEQ`, made at its first record (kai/store/shelves.py).
CREATE TABLE mem_shelf (
  seq INTEGER PRIMARY KEY,
  shelf TEXT NOT NULL UNIQUE,  -- person/ID, channel/ID, global
  words TEXT NOT NULL          -- version of the tokens in it
) STRICT;

CREATE TABLE mem_indexed (     -- which revision of a record stands on which shelf
  shelf INTEGER NOT NULL REFERENCES mem_shelf (seq),
  seq INTEGER NOT NULL REFERENCES mem_record (seq),
  revision INTEGER NOT NULL,
  PRIMARY KEY (shelf, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX mem_indexed_seq ON mem_indexed (seq);

INSERT INTO fact VALUES ('memory_secret', lower(hex(randomblob(32))));  -- the key of what is kept as a hash only

-- How an item of a block was scored: the parts of the formula, as they stood.
ALTER TABLE disposition ADD COLUMN parts TEXT NOT NULL DEFAULT '';
