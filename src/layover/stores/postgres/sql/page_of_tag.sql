SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM (
    SELECT *
    FROM layover.executions
    WHERE tags @> ARRAY[$6::text]
    OFFSET 0 -- planned by itself: for a rare tag, an index by age would be read to its end
) AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < ($3::bigint, $4::uuid)
    AND ($5::text IS NULL OR h.workflow = $5)
    AND ($1::text[] IS NULL OR h.status = ANY($1))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $2::bigint
