SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM pause_points
WHERE status IN ('open', 'answered')
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
ORDER BY opened_at, id
LIMIT :limit
