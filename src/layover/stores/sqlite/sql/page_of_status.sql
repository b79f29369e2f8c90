SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM heads AS h
JOIN executions AS e ON e.execution_id = h.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE h.status <> 'completed'
    AND h.status = :one_status
    AND (h.created_at, h.execution_id) < (:after_at, :after_id)
    AND (:workflow IS NULL OR h.workflow = :workflow)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY h.created_at DESC, h.execution_id DESC
LIMIT :limit
