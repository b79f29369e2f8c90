DROP TABLE tags;
DROP INDEX heads_by_status;
DROP INDEX heads_by_workflow;
ALTER TABLE heads DROP COLUMN created_at;
