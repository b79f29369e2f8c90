ALTER TABLE executions DROP COLUMN input;
