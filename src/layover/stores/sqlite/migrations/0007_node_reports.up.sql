-- What nodes report while they run. The last progress of each call, which is gone when the call has ended.
CREATE TABLE progress (
    execution_id BLOB NOT NULL,
    node TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (execution_id, node)
) WITHOUT ROWID;

-- The log lines of calls in compressed chunks, each of one attempt; ids are in the order of time.
CREATE TABLE node_logs (
    execution_id BLOB NOT NULL,
    id TEXT NOT NULL,
    node TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    dropped INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (execution_id, id)
);
