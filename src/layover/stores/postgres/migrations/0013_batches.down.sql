DROP TABLE layover.batch_items;
DROP TABLE layover.batches;
DROP INDEX layover.audit_by_target;
