-- compatible
-- Executions by who started them; one that nobody did is not in it.
CREATE INDEX executions_by_user
ON layover.executions ("user" COLLATE "C", created_at, execution_id) WHERE "user" IS NOT NULL;
