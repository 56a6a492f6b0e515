-- The spine: who talks where, what was said, the turns that answer it, and what is owed to whom because of it.
--
-- Ids are texts of our own. Times are whole microseconds since 1970 in UTC. Lists are JSON. `seq` is the order of
-- arrival. A state column is written by kai/store/moves.py alone, which knows the only moves there are.

CREATE TABLE fact (            -- what this database says of itself
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- People ---------------------------------------------------------------------------------------------------------

CREATE TABLE person (
  seq INTEGER PRIMARY KEY,
  principal TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  name_key TEXT NOT NULL,      -- the name with case folded: two persons never differ by case alone
  os_user TEXT NOT NULL,
  zone TEXT NOT NULL DEFAULT '',
  email TEXT NOT NULL DEFAULT '',
  legacy_chat_id TEXT NOT NULL DEFAULT '',
  permissions TEXT NOT NULL DEFAULT '' CHECK (permissions IN ('', 'ask', 'bypass')),
  added_at INTEGER NOT NULL,
  removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX person_present ON person (name_key) WHERE removed_at IS NULL;

CREATE TABLE account (         -- who is who in a chat app; without `verified_at` it proves nothing
  bridge TEXT NOT NULL,
  account TEXT NOT NULL,
  principal TEXT NOT NULL REFERENCES person (principal),
  linked_at INTEGER NOT NULL,
  verified_at INTEGER,
  PRIMARY KEY (bridge, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_principal ON account (principal);

-- Channels -------------------------------------------------------------------------------------------------------

CREATE TABLE channel (
  seq INTEGER PRIMARY KEY,     -- also the prefix of this channel's words in the search index
  channel TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('private', 'shared')), -- as made; a second member makes a private one shared
  title TEXT NOT NULL,
  owner TEXT REFERENCES person (principal),
  main_of TEXT UNIQUE REFERENCES person (principal),  -- the person's own conversation; nobody else joins it
  last_number INTEGER NOT NULL DEFAULT 0,             -- of its messages
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE membership (      -- one interval; the numbers say exactly which messages were said before this member
  channel TEXT NOT NULL REFERENCES channel (channel),
  principal TEXT NOT NULL REFERENCES person (principal),
  from_at INTEGER NOT NULL,
  from_number INTEGER NOT NULL, -- messages after this number were said in their presence …
  to_at INTEGER,
  to_number INTEGER,            -- … up to and with this one; NULL: still here
  PRIMARY KEY (channel, principal, from_at)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX membership_present ON membership (principal, channel) WHERE to_at IS NULL;

CREATE TABLE address (
  address TEXT PRIMARY KEY,
  bridge TEXT NOT NULL,        -- the bridge instance
  chat TEXT NOT NULL,
  thread TEXT NOT NULL,
  channel TEXT NOT NULL REFERENCES channel (channel),
  UNIQUE (bridge, chat, thread)
) STRICT, WITHOUT ROWID;

CREATE TABLE seat (
  seat TEXT PRIMARY KEY,
  os_user TEXT NOT NULL,
  channel TEXT NOT NULL REFERENCES channel (channel),
  workspace TEXT NOT NULL,
  agent TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (os_user, channel, workspace, agent)
) STRICT, WITHOUT ROWID;

CREATE TABLE preference (      -- what was chosen with `kai use`
  scope TEXT NOT NULL CHECK (scope IN ('person', 'channel')),
  id TEXT NOT NULL,
  backend TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT '',
  effort TEXT NOT NULL DEFAULT '',
  workspace TEXT NOT NULL DEFAULT '',
  agent TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;

-- Messages -------------------------------------------------------------------------------------------------------

CREATE TABLE message (
  seq INTEGER PRIMARY KEY,     -- also its row in the search index
  message TEXT NOT NULL UNIQUE,
  channel TEXT NOT NULL REFERENCES channel (channel),
  number INTEGER NOT NULL,     -- within the channel, from 1
  author TEXT NOT NULL CHECK (author IN ('person', 'agent', 'kai')),
  principal TEXT REFERENCES person (principal),
  name TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  sent_at INTEGER,             -- as the bridge says
  turn TEXT REFERENCES turn (turn) DEFERRABLE INITIALLY DEFERRED,
  backend TEXT NOT NULL DEFAULT '',
  tool_lines TEXT NOT NULL DEFAULT '[]',
  incomplete INTEGER NOT NULL DEFAULT 0,
  aside INTEGER NOT NULL DEFAULT 0,    -- no part of the talk: control messages, notices, edits, deletions
  reply_to TEXT REFERENCES message (message),
  edit_of TEXT REFERENCES message (message),
  deleted INTEGER NOT NULL DEFAULT 0,  -- takes back the message that `edit_of` names
  bridge TEXT,
  chat TEXT,
  external_id TEXT,
  UNIQUE (channel, number),
  UNIQUE (bridge, chat, external_id)   -- a repeat is accepted once
) STRICT;
CREATE INDEX message_said ON message (channel, number) WHERE aside = 0;
CREATE INDEX message_edit ON message (edit_of, seq) WHERE edit_of IS NOT NULL;
CREATE INDEX message_turn ON message (turn) WHERE turn IS NOT NULL;
CREATE TRIGGER message_kept BEFORE UPDATE ON message BEGIN
  SELECT RAISE(ABORT, 'messages are append-only');
END;

-- Words come ready made from kai/store/search.py (`fact.words` holds its version). All that is not ASCII is a word.
CREATE VIRTUAL TABLE message_index USING fts5 (words, content = '', tokenize = "ascii tokenchars '_'");

CREATE TABLE attachment (      -- the bytes are a file at `path`
  ref TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  path TEXT NOT NULL,
  principal TEXT REFERENCES person (principal),
  added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE message_attachment (
  channel TEXT NOT NULL,
  number INTEGER NOT NULL,
  position INTEGER NOT NULL,
  ref TEXT NOT NULL REFERENCES attachment (ref),
  PRIMARY KEY (channel, number, position),
  FOREIGN KEY (channel, number) REFERENCES message (channel, number)
) STRICT, WITHOUT ROWID;

-- Turns ----------------------------------------------------------------------------------------------------------

CREATE TABLE turn (
  seq INTEGER PRIMARY KEY,     -- the order of the lane
  turn TEXT NOT NULL UNIQUE,
  channel TEXT NOT NULL REFERENCES channel (channel),
  message TEXT NOT NULL REFERENCES message (message),
  principal TEXT NOT NULL REFERENCES person (principal),
  address TEXT NOT NULL REFERENCES address (address),
  state TEXT NOT NULL,
  queued_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  failure TEXT,
  reason TEXT NOT NULL DEFAULT '',
  detail TEXT NOT NULL DEFAULT '',
  backend TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT '',
  answer TEXT REFERENCES message (message),
  retry_of TEXT REFERENCES turn (turn),
  attempts INTEGER NOT NULL DEFAULT 0,
  usage TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE INDEX turn_channel ON turn (channel, seq);
CREATE INDEX turn_principal ON turn (principal, seq);
CREATE INDEX turn_queued ON turn (channel, seq) WHERE state = 'queued';
CREATE UNIQUE INDEX turn_live ON turn (channel) WHERE state IN ('running', 'asking', 'held'); -- one at a time
CREATE INDEX turn_retry ON turn (retry_of) WHERE retry_of IS NOT NULL;

CREATE TABLE partial (         -- what a live turn has said so far, kept in case it is cut
  turn TEXT PRIMARY KEY REFERENCES turn (turn),
  text TEXT NOT NULL,
  tool_lines TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  session TEXT PRIMARY KEY,
  channel TEXT NOT NULL REFERENCES channel (channel),
  principal TEXT NOT NULL REFERENCES person (principal),
  backend TEXT NOT NULL,
  epoch TEXT NOT NULL,
  workspace TEXT NOT NULL,
  native_id TEXT NOT NULL DEFAULT '',  -- only from a turn that worked
  turns INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL CHECK (state IN ('live', 'ended', 'retired')),
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  compacted INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX session_channel ON session (channel, used_at);
CREATE INDEX session_live ON session (session) WHERE state = 'live';

CREATE TABLE run (             -- one launch of a backend process
  run TEXT PRIMARY KEY,
  session TEXT NOT NULL REFERENCES session (session),
  os_user TEXT NOT NULL DEFAULT '',
  pid INTEGER,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  exit_code INTEGER,
  exit_signal INTEGER,
  reason TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX run_open ON run (started_at) WHERE ended_at IS NULL;

CREATE TABLE dispatch (
  dispatch TEXT PRIMARY KEY,
  turn TEXT NOT NULL REFERENCES turn (turn),
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL,
  backend TEXT NOT NULL,
  model TEXT NOT NULL,
  session TEXT NOT NULL REFERENCES session (session),
  run TEXT NOT NULL REFERENCES run (run),
  epoch TEXT NOT NULL,
  fresh INTEGER NOT NULL,
  bare INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  prepared_at INTEGER NOT NULL,
  sent_at INTEGER,
  settled_at INTEGER,
  frame_sha256 TEXT NOT NULL DEFAULT '',
  native_id TEXT NOT NULL DEFAULT '',  -- of the session as it was then: part of some frames
  UNIQUE (turn, attempt)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX dispatch_open ON dispatch (turn) WHERE state IN ('prepared', 'sent');
CREATE INDEX dispatch_prepared_at ON dispatch (prepared_at);
CREATE INDEX dispatch_session ON dispatch (session, prepared_at);

CREATE TABLE question (
  ask TEXT PRIMARY KEY,
  turn TEXT NOT NULL REFERENCES turn (turn),
  dispatch TEXT NOT NULL REFERENCES dispatch (dispatch),
  key TEXT NOT NULL,
  title TEXT NOT NULL,
  detail TEXT NOT NULL,
  choices TEXT NOT NULL,
  free_text INTEGER NOT NULL,
  state TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  closed_at INTEGER,
  choice TEXT NOT NULL DEFAULT '',
  answered_by TEXT REFERENCES person (principal),
  reason TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX question_turn ON question (turn, asked_at);
CREATE INDEX question_open ON question (turn) WHERE state = 'open';

-- Snapshots: the exact text of each dispatch, every distinct part stored once --------------------------------------

CREATE TABLE blob (
  sha256 BLOB PRIMARY KEY,     -- of the text in UTF-8
  size_bytes INTEGER NOT NULL,
  packed BLOB NOT NULL         -- zlib
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshot_section (
  dispatch TEXT NOT NULL REFERENCES dispatch (dispatch),
  position INTEGER NOT NULL,   -- from 0; the person's words stand at -1
  name TEXT NOT NULL,
  required INTEGER NOT NULL,
  stable INTEGER NOT NULL,
  blob BLOB NOT NULL REFERENCES blob (sha256),
  PRIMARY KEY (dispatch, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX snapshot_section_blob ON snapshot_section (blob);

CREATE TABLE disposition (     -- exactly one per considered item
  dispatch TEXT NOT NULL REFERENCES dispatch (dispatch),
  position INTEGER NOT NULL,
  section TEXT NOT NULL,
  source_kind TEXT NOT NULL,
  source_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  size_bytes INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (dispatch, position)
) STRICT, WITHOUT ROWID;

-- Deliveries -----------------------------------------------------------------------------------------------------

CREATE TABLE delivery (
  number INTEGER PRIMARY KEY AUTOINCREMENT,  -- grows over the whole store and is never used twice
  delivery TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL REFERENCES address (address),
  bridge TEXT NOT NULL,        -- of the address: its own column for the index
  channel TEXT NOT NULL REFERENCES channel (channel),
  kind TEXT NOT NULL CHECK (kind IN ('answer', 'question', 'notice')),
  text TEXT NOT NULL,
  state TEXT NOT NULL,
  turn TEXT REFERENCES turn (turn),
  ask TEXT REFERENCES question (ask),
  turn_state TEXT,             -- on the one delivery that ends its turn
  about TEXT REFERENCES delivery (delivery), -- the delivery that this notice says may not have arrived
  created_at INTEGER NOT NULL,
  claimed_at INTEGER,
  settled_at INTEGER,
  external_ids TEXT NOT NULL DEFAULT '[]',
  problem TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX delivery_pending ON delivery (bridge, number) WHERE state = 'pending';
CREATE INDEX delivery_claimed ON delivery (bridge, number) WHERE state = 'claimed';
CREATE INDEX delivery_unknown ON delivery (bridge, number) WHERE state = 'unknown';
CREATE INDEX delivery_ask ON delivery (ask) WHERE ask IS NOT NULL;
CREATE UNIQUE INDEX delivery_end ON delivery (turn) WHERE turn_state IS NOT NULL; -- an end is told once
