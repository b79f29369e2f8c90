-- How often an execution was resumed; what was before this step is not counted.
ALTER TABLE executions ADD COLUMN resume_count INTEGER NOT NULL DEFAULT 0;

-- Each holds few executions, and an execution that is not in it pays nothing for it.
CREATE INDEX executions_by_correlation ON executions (correlation_id, created_at) WHERE correlation_id IS NOT NULL;
CREATE INDEX executions_by_error ON executions (error_code, created_at) WHERE error_code <> '';
CREATE INDEX executions_resumed ON executions (created_at) WHERE resume_count > 0;
-- Those that took a minute or more, in milliseconds.
CREATE INDEX executions_slow ON executions (created_at) WHERE finished_at - created_at >= 60000;
