SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number
FROM (
    SELECT found.*
    FROM unnest($1::text[]) AS s (status)
    CROSS JOIN LATERAL (
        SELECT *
        FROM layover.heads
        WHERE status <> 'completed'
            -- Compared and ordered by the whole index, for which no other will do: what was frequent when the server
            -- counted may be rare by now.
            AND (status, created_at, execution_id) < (s.status, $3::bigint, $4::uuid)
            AND status >= s.status
            -- A CASE is taken to leave half of the rows. An OR is taken to leave hardly any, if none were ever counted:
            -- all that are there would be read and sorted.
            AND CASE WHEN $5::text IS NULL THEN TRUE ELSE workflow = $5 END
        ORDER BY status DESC, created_at DESC, execution_id DESC
        LIMIT $2::bigint -- of each status
    ) AS found
    ORDER BY found.created_at DESC, found.execution_id DESC
    LIMIT $2::bigint
) AS h
JOIN layover.executions AS e ON e.execution_id = h.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
ORDER BY h.created_at DESC, h.execution_id DESC
