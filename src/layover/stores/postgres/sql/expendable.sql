SELECT e.execution_id
FROM layover.executions AS e
CROSS JOIN LATERAL (
    SELECT
    WHERE (
        SELECT TRUE
        FROM layover.heads AS h
        WHERE h.execution_id = e.execution_id
            AND h.status IN ('completed', 'failed', 'cancelled')
            AND ($3::text IS NULL OR h.workflow = $3)
    )
    AND (SELECT TRUE FROM layover.outbox AS o WHERE o.sender = e.execution_id LIMIT 1) IS NULL
    AND (SELECT TRUE FROM layover.outbox AS o WHERE o.sender = e.parent_id LIMIT 1) IS NULL
    AND (SELECT TRUE FROM layover.places AS p WHERE p.execution_id = e.execution_id AND p.name IS NOT NULL) IS NULL
    OFFSET 0 -- asked of each, as far as they are wanted: joins would be made of all, and sorted then
) AS wanted
WHERE e.finished_at < $1::bigint
ORDER BY e.finished_at, e.execution_id
LIMIT $2::bigint
