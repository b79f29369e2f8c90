DROP TABLE batch_items;
DROP TABLE batches;
DROP INDEX audit_by_target;
