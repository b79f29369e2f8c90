DELETE FROM heads
WHERE execution_id = :id
    AND status IN ('completed', 'failed', 'cancelled')
    AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.sender = :id)
    AND NOT EXISTS (
        SELECT 1 FROM executions AS c JOIN outbox AS o ON o.sender = c.parent_id WHERE c.execution_id = :id
    )
    AND NOT EXISTS (SELECT 1 FROM places AS p WHERE p.execution_id = :id AND p.name IS NOT NULL)
    AND (
        :before IS NULL
        OR EXISTS (SELECT 1 FROM executions AS e WHERE e.execution_id = :id AND e.finished_at < :before)
    )
