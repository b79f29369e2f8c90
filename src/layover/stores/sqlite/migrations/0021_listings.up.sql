-- Executions by who started them; one that nobody did is not in it.
CREATE INDEX executions_by_user ON executions (user, created_at) WHERE user IS NOT NULL;
