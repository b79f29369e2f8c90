SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM (
    SELECT *
    FROM layover.executions
    WHERE input @> $6::jsonb
    ORDER BY created_at DESC, execution_id DESC -- before heads are looked up: of many, only some are wanted
    OFFSET 0 -- planned by itself: for what few began with, an index by age would be read to its end
) AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < ($3::bigint, $4::uuid)
    AND ($5::text IS NULL OR h.workflow = $5)
    AND ($1::text[] IS NULL OR h.status = ANY($1))
    AND ($7::text IS NULL OR e.tags @> ARRAY[$7])
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $2::bigint
