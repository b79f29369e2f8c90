-- When an execution began, beside what it is listed by: to find few among many, the others are not gone through.
ALTER TABLE heads ADD COLUMN created_at INTEGER;

UPDATE heads
SET created_at = (SELECT e.created_at FROM executions AS e WHERE e.execution_id = heads.execution_id);

CREATE INDEX heads_by_workflow ON heads (workflow, created_at);

-- Most executions are completed, and those are not in it. Which are, is asked whenever a status is written, so it is one
-- comparison and not a list of values.
CREATE INDEX heads_by_status ON heads (status, created_at) WHERE status <> 'completed';

CREATE TABLE tags (
    tag TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    execution_id BLOB NOT NULL,
    PRIMARY KEY (tag, created_at, execution_id)
) WITHOUT ROWID;

INSERT INTO tags (tag, created_at, execution_id)
SELECT DISTINCT value, e.created_at, e.execution_id
FROM executions AS e, json_each(e.tags);
