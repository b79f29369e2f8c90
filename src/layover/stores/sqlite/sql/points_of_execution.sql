SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM pause_points
WHERE execution_id = :execution_id
    AND (opened_at, id) > (:after_at, :after_id)
    AND (:workflow IS NULL OR workflow = :workflow)
    AND (:kind IS NULL OR kind = :kind)
    AND (:status IS NULL OR status IN (SELECT value FROM json_each(:status)))
ORDER BY opened_at, id
LIMIT :limit
