SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM layover.executions AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE e.execution_id = $1::uuid
