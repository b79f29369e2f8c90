DROP TABLE trigger_tokens;
ALTER TABLE triggers DROP COLUMN managed;
