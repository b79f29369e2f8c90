SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM (
    SELECT found.*
    FROM layover.versions AS n
    CROSS JOIN LATERAL ( -- of each version: what runs a workflow is told by its version, and that is never written again
        SELECT x.*
        FROM layover.executions AS x
        CROSS JOIN LATERAL (
            SELECT status
            FROM layover.heads
            WHERE execution_id = x.execution_id
            OFFSET 0 -- looked up for each: the way by age is the right one also before the server has counted the rows
        ) AS now
        -- Compared and ordered by the whole index, for which no other will do: what was frequent when the server counted
        -- may be rare by now.
        WHERE (x.version_id, x.created_at, x.execution_id) < (n.id, $3::bigint, $4::uuid)
            AND x.version_id >= n.id
            -- A CASE is taken to leave half of the rows. An OR is taken to leave hardly any, if none were ever counted:
            -- all that are there would be read and sorted.
            AND CASE WHEN $1::text[] IS NULL THEN TRUE ELSE now.status = ANY($1) END
        ORDER BY x.version_id DESC, x.created_at DESC, x.execution_id DESC
        LIMIT $2::bigint
    ) AS found
    WHERE n.workflow = $5::text
    ORDER BY found.created_at DESC, found.execution_id DESC
    LIMIT $2::bigint
) AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
ORDER BY e.created_at DESC, e.execution_id DESC
