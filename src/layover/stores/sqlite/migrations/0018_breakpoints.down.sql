DROP INDEX standings_with_breakpoints;
ALTER TABLE standings DROP COLUMN breakpoints;
