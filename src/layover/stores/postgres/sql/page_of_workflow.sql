SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM unnest(ARRAY[$5::text]) AS w (workflow)
CROSS JOIN LATERAL ( -- for one that is given: else the server starts workers, who take longer than the whole page
    SELECT *
    FROM layover.heads
    -- Compared and ordered by the whole index, for which no other will do: what was frequent when the server counted
    -- may be rare by now.
    WHERE (workflow, created_at, execution_id) < (w.workflow, $3::bigint, $4::uuid)
        AND workflow >= w.workflow
        -- A CASE is taken to leave half of the rows. An OR is taken to leave hardly any, if none were ever counted: all
        -- that are there would be read and sorted.
        AND CASE WHEN $1::text[] IS NULL THEN TRUE ELSE status = ANY($1) END
    ORDER BY workflow DESC, created_at DESC, execution_id DESC
    LIMIT $2::bigint
) AS h
JOIN layover.executions AS e ON e.execution_id = h.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
ORDER BY h.created_at DESC, h.execution_id DESC
