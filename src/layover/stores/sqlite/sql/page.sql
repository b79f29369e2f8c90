SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:status IS NULL OR h.status IN (SELECT value FROM json_each(:status)))
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit
