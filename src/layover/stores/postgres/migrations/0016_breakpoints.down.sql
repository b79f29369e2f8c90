DROP INDEX layover.standings_with_breakpoints;
ALTER TABLE layover.standings DROP COLUMN breakpoints;
