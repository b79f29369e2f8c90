SELECT EXISTS (
    SELECT
    FROM layover.executions AS e
    LEFT JOIN layover.heads AS h ON h.execution_id = e.execution_id
    WHERE e.created_at >= $1::bigint
        AND e.created_at < $2::bigint
        AND (
            h.execution_id IS NULL
            OR h.status NOT IN ('completed', 'failed', 'cancelled')
            OR e.finished_at IS NULL
            OR e.finished_at >= $3::bigint
            OR EXISTS (SELECT FROM layover.outbox AS o WHERE o.sender = e.execution_id)
            OR EXISTS (SELECT FROM layover.outbox AS o WHERE o.sender = e.parent_id)
            OR EXISTS (SELECT FROM layover.places AS p WHERE p.execution_id = e.execution_id AND p.name IS NOT NULL)
        )
)
