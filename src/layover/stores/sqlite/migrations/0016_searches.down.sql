DROP INDEX executions_slow;
DROP INDEX executions_resumed;
DROP INDEX executions_by_error;
DROP INDEX executions_by_correlation;
ALTER TABLE executions DROP COLUMN resume_count;
