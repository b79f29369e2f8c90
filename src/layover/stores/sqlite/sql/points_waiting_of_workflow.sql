-- The index has them by kind, so the lists of all kinds are merged: no further than the page goes.
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'timer'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'approval'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'form'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'signal'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'callback'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'child'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
ORDER BY opened_at, id
LIMIT :limit
