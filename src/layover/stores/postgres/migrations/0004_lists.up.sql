-- compatible
-- To find few among many, the others are not gone through. Most executions are completed, and those are not in the
-- index by status; those that are paused are. What is dropped comes first, since it waits for all who use the table:
-- else we would hold up whoever is about to write, and wait for what they have read.
DROP INDEX layover.heads_paused;

CREATE INDEX heads_by_status ON layover.heads (status, created_at, execution_id) WHERE status <> 'completed';

-- The versions of a workflow stand for it: heads have its name, but whatever moves a head writes all its indexes anew.
CREATE INDEX executions_by_version ON layover.executions (version_id, created_at, execution_id);
