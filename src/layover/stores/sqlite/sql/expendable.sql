SELECT e.execution_id
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
WHERE e.finished_at < :before
    AND h.status IN ('completed', 'failed', 'cancelled')
    AND (:workflow IS NULL OR h.workflow = :workflow)
    AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.sender = e.execution_id)
    AND NOT EXISTS (
        SELECT 1 FROM executions AS c JOIN outbox AS o ON o.sender = c.parent_id WHERE c.execution_id = e.execution_id
    )
    AND NOT EXISTS (SELECT 1 FROM places AS p WHERE p.execution_id = e.execution_id AND p.name IS NOT NULL)
ORDER BY e.finished_at, e.execution_id
LIMIT :most
