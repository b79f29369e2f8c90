DROP INDEX layover.heads_by_status;
DROP INDEX layover.executions_by_version;

CREATE INDEX heads_paused ON layover.heads (created_at DESC, execution_id DESC) WHERE status = 'paused';
