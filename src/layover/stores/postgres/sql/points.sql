SELECT p.id, p.execution_id, p.workflow, p.status, p.closed_at, p.body, p.schema
FROM layover.pause_points AS p
CROSS JOIN LATERAL (
    SELECT
    WHERE ($1::text IS NULL OR p.workflow = $1)
        AND ($2::text IS NULL OR p.kind = $2)
        AND ($3::text[] IS NULL OR p.status = ANY($3))
    OFFSET 0 -- asked of each: the way by age is the right one also before the server has counted the rows
) AS wanted
WHERE (p.opened_at, p.id) > ($5::bigint, $6::text)
ORDER BY p.opened_at, p.id
LIMIT $4::bigint
