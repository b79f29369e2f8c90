DROP INDEX layover.executions_slow;
DROP INDEX layover.executions_resumed;
DROP INDEX layover.executions_by_error;
DROP INDEX layover.executions_by_correlation;
ALTER TABLE layover.executions DROP COLUMN resume_count;
