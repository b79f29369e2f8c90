SELECT id, execution_id, workflow, status, closed_at, body, schema FROM pause_points WHERE id = :point
