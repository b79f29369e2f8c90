DROP TABLE indexed_executions;
DROP TABLE search_terms;
DROP INDEX heads_unindexed;
ALTER TABLE heads DROP COLUMN unindexed;
