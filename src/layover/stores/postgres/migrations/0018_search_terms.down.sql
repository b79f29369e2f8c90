DROP TRIGGER forget_terms ON layover.heads;
DROP FUNCTION layover.forget_terms();
DROP TRIGGER mark_unindexed ON layover.heads;
DROP FUNCTION layover.mark_unindexed();
DROP TABLE layover.indexed_executions;
DROP TABLE layover.search_terms;
DROP INDEX layover.heads_unindexed;
ALTER TABLE layover.heads DROP COLUMN unindexed;
