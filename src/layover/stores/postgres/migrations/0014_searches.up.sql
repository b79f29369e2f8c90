-- compatible
-- How often an execution was resumed; what was before this step is not counted.
ALTER TABLE layover.executions ADD COLUMN resume_count integer NOT NULL DEFAULT 0;

-- Each holds few executions, and an execution that is not in it pays nothing for it.
CREATE INDEX executions_by_correlation
ON layover.executions (correlation_id COLLATE "C", created_at, execution_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX executions_by_error
ON layover.executions (error_code COLLATE "C", created_at, execution_id) WHERE error_code <> '';
CREATE INDEX executions_resumed ON layover.executions (created_at, execution_id) WHERE resume_count > 0;
-- Those that took a minute or more, in milliseconds.
CREATE INDEX executions_slow ON layover.executions (created_at, execution_id) WHERE finished_at - created_at >= 60000;
