-- compatible
-- To find few among many, the others are not gone through. Most executions are completed, and those are not in the
-- index by status; those that are paused are. What is dropped comes first, since it waits for all who use the table:
-- else we would hold up whoever is about to write, and wait for what they have read.
DROP INDEX layover.heads_paused;

CREATE INDEX heads_by_workflow ON layover.heads (workflow, created_at, execution_id);
CREATE INDEX heads_by_status ON layover.heads (status, created_at, execution_id) WHERE status <> 'completed';
