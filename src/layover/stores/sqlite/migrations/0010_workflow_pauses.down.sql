DROP INDEX standings_by_signal;
DROP INDEX standings_due;
ALTER TABLE standings DROP COLUMN resume_by;
ALTER TABLE standings DROP COLUMN resume_filter;
ALTER TABLE standings DROP COLUMN resume_key;
ALTER TABLE standings DROP COLUMN resume_signal;
ALTER TABLE standings DROP COLUMN due_at;
