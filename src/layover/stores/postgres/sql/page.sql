SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM layover.executions AS e
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.heads
    WHERE execution_id = e.execution_id
    OFFSET 0 -- looked up for each: the way by age is the right one also before the server has counted the rows
) AS h
JOIN layover.versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < ($3::bigint, $4::uuid)
    AND ($1::text[] IS NULL OR h.status = ANY($1))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $2::bigint
