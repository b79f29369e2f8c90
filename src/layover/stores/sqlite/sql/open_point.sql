INSERT INTO pause_points (id, execution_id, workflow, kind, status, opened_at, body, schema)
SELECT :point, execution_id, workflow, :kind, :status, :opened_at, :body, :schema
FROM heads
WHERE execution_id = :id
ON CONFLICT DO NOTHING
