SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM layover.pause_points
WHERE execution_id = ANY ($1::uuid[])
ORDER BY execution_id, opened_at, id
