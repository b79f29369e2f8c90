DROP TABLE layover.trigger_tokens;
ALTER TABLE layover.triggers DROP COLUMN managed;
