-- Longer work: delegated pieces with their lineage, results that are read on by reference, tasks and what they need.

ALTER TABLE channel ADD COLUMN parent TEXT REFERENCES channel (channel);  -- where delegated work is done for that one
ALTER TABLE turn ADD COLUMN delegated INTEGER NOT NULL DEFAULT 0;

CREATE TABLE delegation (      -- one piece of work that an agent handed to another
  delegation TEXT PRIMARY KEY,
  turn TEXT NOT NULL UNIQUE REFERENCES turn (turn),  -- in which it is done …
  channel TEXT NOT NULL REFERENCES channel (channel), -- … and where
  parent TEXT NOT NULL REFERENCES turn (turn),       -- in which it was asked for
  root TEXT NOT NULL REFERENCES turn (turn),         -- the person's own
  number INTEGER NOT NULL,     -- of the person's message: history goes up to there
  depth INTEGER NOT NULL,      -- 1: handed over by the agent that the person talks to
  lineage TEXT NOT NULL,       -- JSON: the definitions above it, the person's first
  agent TEXT NOT NULL,
  revision TEXT NOT NULL,      -- of that definition, when it was asked for
  history TEXT NOT NULL CHECK (history IN ('channel', 'brief', 'none')),
  constraints TEXT NOT NULL DEFAULT '',
  refs TEXT NOT NULL DEFAULT '[]',   -- results that were handed over
  limit_s REAL NOT NULL,
  begun_at INTEGER NOT NULL,
  ended_at INTEGER,
  result TEXT REFERENCES result (ref),
  reason TEXT NOT NULL DEFAULT ''    -- why kai ended it
) STRICT, WITHOUT ROWID;
CREATE INDEX delegation_parent ON delegation (parent);
CREATE INDEX delegation_root ON delegation (root);
CREATE INDEX delegation_open ON delegation (begun_at) WHERE ended_at IS NULL;

CREATE TABLE result (          -- never changes: what is newer is another one
  ref TEXT PRIMARY KEY,
  owner TEXT NOT NULL REFERENCES person (principal),
  channel TEXT NOT NULL REFERENCES channel (channel),
  turn TEXT REFERENCES turn (turn),  -- the person's, along with which a temporary one is erased
  producer TEXT NOT NULL,      -- a tool, or a definition
  source TEXT NOT NULL,        -- what was asked
  unit TEXT NOT NULL CHECK (unit IN ('items', 'characters')),
  items TEXT NOT NULL,         -- JSON: the items, or one text
  returned INTEGER NOT NULL,   -- how much of it was told at once
  total INTEGER NOT NULL,
  is_whole INTEGER NOT NULL,   -- whether that is all that there is
  audience TEXT NOT NULL,      -- JSON: who was there
  inputs TEXT NOT NULL DEFAULT '[]', -- of a task, that it was made from
  previous TEXT REFERENCES result (ref),
  as_of INTEGER NOT NULL,
  temporary INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX result_channel ON result (channel, as_of);
CREATE INDEX result_turn ON result (turn);
CREATE TRIGGER result_kept BEFORE UPDATE ON result BEGIN
  SELECT RAISE(ABORT, 'a result never changes');
END;

CREATE TABLE task (            -- a longer piece of work of one person's, one open at a time in a channel
  task TEXT PRIMARY KEY,
  channel TEXT NOT NULL REFERENCES channel (channel),
  principal TEXT NOT NULL REFERENCES person (principal),
  title TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('open', 'blocked', 'done', 'dropped')),
  begun_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX task_open ON task (channel) WHERE status IN ('open', 'blocked');

CREATE TABLE task_item (       -- requirements and inputs cite what was asked; notes are an agent's own view
  item TEXT PRIMARY KEY,
  task TEXT NOT NULL REFERENCES task (task),
  kind TEXT NOT NULL CHECK (kind IN ('requirement', 'restriction', 'input', 'note')),
  text TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'historical', 'withdrawn')),
  replaces TEXT REFERENCES task_item (item),
  message TEXT REFERENCES message (message),
  agent TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX task_item_task ON task_item (task, at);

CREATE TABLE session_skill (   -- bodies that a session was given
  session TEXT NOT NULL REFERENCES session (session),
  skill TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (session, skill)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_revision (  -- every version of a definition that was in force, as it read
  name TEXT NOT NULL,
  revision TEXT NOT NULL,
  content TEXT NOT NULL,       -- JSON
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (name, revision)
) STRICT, WITHOUT ROWID;
