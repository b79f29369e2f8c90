SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM layover.pause_points
WHERE status IN ('open', 'answered')
    AND (opened_at, id) > ($5::bigint, $6::text)
    AND ($1::text IS NULL OR workflow = $1)
    AND ($2::text IS NULL OR kind = $2)
    AND ($3::text[] IS NULL OR status = ANY($3))
ORDER BY opened_at, id
LIMIT $4::bigint
