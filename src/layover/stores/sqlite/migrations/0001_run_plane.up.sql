-- Versions are immutable and kept while an execution refers to them.
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    workflow TEXT NOT NULL,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL,
    document BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (workflow, number)
);

CREATE INDEX versions_by_hash ON versions (hash, workflow, number);

-- The hot row: ready queue, timer wheel and failure detector at once.
CREATE TABLE heads (
    execution_id BLOB PRIMARY KEY,
    workflow TEXT NOT NULL,
    status TEXT NOT NULL,
    priority INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    last_epoch INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    owner TEXT,
    wake_at INTEGER,
    commands_seq INTEGER NOT NULL,
    commands_done INTEGER NOT NULL,
    takeovers INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX heads_due ON heads (wake_at) WHERE wake_at IS NOT NULL;

CREATE TABLE executions (
    execution_id BLOB PRIMARY KEY,
    version_id INTEGER NOT NULL REFERENCES versions (id),
    created_at INTEGER NOT NULL,
    user TEXT,
    parent_id BLOB,
    correlation_id TEXT,
    tags TEXT,
    finished_at INTEGER,
    outcome TEXT,
    error_code TEXT
) WITHOUT ROWID;

CREATE INDEX executions_by_age ON executions (created_at);
CREATE INDEX executions_by_parent ON executions (parent_id, created_at) WHERE parent_id IS NOT NULL;

-- One row per append: the JSON array of its events, the first of which has the number `seq`. The rows of many executions
-- come in turn, so the table grows at its end and only the index is sorted by execution.
CREATE TABLE events (
    execution_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    count INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (execution_id, seq)
);

CREATE TABLE snapshots (
    execution_id BLOB PRIMARY KEY,
    seq INTEGER NOT NULL,
    body BLOB NOT NULL
);

CREATE TABLE pause_points (
    id TEXT PRIMARY KEY,
    execution_id BLOB NOT NULL,
    workflow TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    closed_at INTEGER,
    body BLOB NOT NULL,
    schema BLOB
) WITHOUT ROWID;

CREATE INDEX pause_points_by_execution ON pause_points (execution_id, opened_at);
CREATE INDEX pause_points_by_age ON pause_points (opened_at);
CREATE INDEX pause_points_waiting ON pause_points (opened_at) WHERE status IN ('open', 'answered');

CREATE TABLE commands (
    execution_id BLOB NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    source TEXT NOT NULL,
    source_n INTEGER NOT NULL,
    PRIMARY KEY (execution_id, n),
    UNIQUE (execution_id, source, source_n)
) WITHOUT ROWID;

CREATE TABLE locks (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL
) WITHOUT ROWID;
