DROP INDEX layover.trigger_inputs_pending;
DROP INDEX layover.triggers_by_state;
DROP TABLE layover.trigger_tokens;
ALTER TABLE layover.triggers DROP COLUMN managed;
