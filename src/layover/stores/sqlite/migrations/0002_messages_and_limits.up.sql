-- Node types that nobody had a function for when the execution was given back, as a JSON array, and since when.
ALTER TABLE heads ADD COLUMN missing TEXT;
ALTER TABLE heads ADD COLUMN missing_since INTEGER;

CREATE INDEX heads_missing ON heads (missing, missing_since) WHERE missing IS NOT NULL;

CREATE INDEX executions_by_end ON executions (finished_at) WHERE finished_at IS NOT NULL;

-- What one sender has for one destination lies together: it is delivered in the order of its numbers.
CREATE TABLE outbox (
    sender BLOB NOT NULL,
    destination TEXT NOT NULL,
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    due_at INTEGER NOT NULL,
    PRIMARY KEY (sender, destination, n)
) WITHOUT ROWID;

CREATE INDEX outbox_by_time ON outbox (due_at, sender, n, destination);

CREATE TABLE tokens (
    hash BLOB PRIMARY KEY,
    execution_id BLOB NOT NULL,
    point TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX tokens_by_execution ON tokens (execution_id);

CREATE TABLE waits (
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    point TEXT NOT NULL,
    execution_id BLOB NOT NULL,
    PRIMARY KEY (name, key, point)
) WITHOUT ROWID;

CREATE INDEX waits_by_point ON waits (point);

CREATE TABLE signals (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    data BLOB NOT NULL,
    dispatched INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX signals_by_key ON signals (name, key, at);
CREATE INDEX signals_by_age ON signals (dispatched, at);

-- Who may begin: `name` and `most` are the slots that it wants, and it holds one since `held_at` or is in line by
-- `rank`; then `start_at` is the moment that its rate lets it begin.
CREATE TABLE places (
    execution_id BLOB PRIMARY KEY,
    name TEXT,
    most INTEGER,
    rank INTEGER NOT NULL,
    held_at INTEGER,
    rate TEXT,
    rate_limit INTEGER,
    rate_per_ms INTEGER,
    start_at INTEGER,
    admitted INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX places_held ON places (name, held_at) WHERE held_at IS NOT NULL;
CREATE INDEX places_in_line ON places (name, rank) WHERE held_at IS NULL;

-- When a name has used up its rate, in microseconds: so that a third of a second is not rounded away.
CREATE TABLE rates (
    name TEXT PRIMARY KEY,
    used_until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX rates_by_use ON rates (used_until);
