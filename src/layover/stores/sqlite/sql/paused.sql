SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM heads AS h
JOIN executions AS e ON e.execution_id = h.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE h.paused_at IS NOT NULL
    AND (h.paused_at, h.execution_id) > (:after_at, :after_id)
ORDER BY h.paused_at, h.execution_id
LIMIT :limit
