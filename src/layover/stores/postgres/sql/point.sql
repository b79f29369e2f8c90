SELECT id, execution_id, workflow, status, closed_at, body, schema FROM layover.pause_points WHERE id = $1::text
