-- Search terms: keys of 17 bytes, each the hash of a path and a value there. All executions wait to be indexed.
ALTER TABLE heads ADD COLUMN unindexed INTEGER NOT NULL DEFAULT 1;

CREATE INDEX heads_unindexed ON heads (created_at) WHERE unindexed = 1;

CREATE TABLE search_terms (
    term BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    execution_id BLOB NOT NULL,
    PRIMARY KEY (term, created_at, execution_id)
) WITHOUT ROWID;

-- The terms of each execution, one after the other: those that it has no more are found by it.
CREATE TABLE indexed_executions (
    execution_id BLOB PRIMARY KEY,
    terms BLOB NOT NULL
) WITHOUT ROWID;
