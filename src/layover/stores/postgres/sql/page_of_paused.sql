SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code
FROM layover.heads AS h
JOIN layover.executions AS e ON e.execution_id = h.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE h.status = 'paused'
    AND (h.created_at, h.execution_id) < ($3::bigint, $4::uuid)
    AND ($1::text IS NULL OR h.workflow = $1)
ORDER BY h.created_at DESC, h.execution_id DESC
LIMIT $2::bigint
