DROP INDEX trigger_inputs_pending;
DROP INDEX triggers_by_state;
DROP TABLE trigger_tokens;
ALTER TABLE triggers DROP COLUMN managed;
