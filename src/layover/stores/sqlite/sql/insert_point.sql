INSERT INTO pause_points (id, execution_id, workflow, kind, status, opened_at, closed_at, body, schema)
VALUES (:point, :id, :workflow, :kind, :status, :opened_at, :closed_at, :body, :schema)
