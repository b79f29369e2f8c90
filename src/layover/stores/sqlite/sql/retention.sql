-- name: purgeable_executions
-- A child stays while its parent has messages: one may start the child once more.
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
    AND NOT EXISTS (SELECT 1 FROM deliveries AS d WHERE d.execution_id = e.execution_id AND d.state = 'pending')
ORDER BY e.finished_at, e.execution_id
LIMIT :most

-- name: purge_head
-- Checks once more, under the write lock, that the execution may go.
DELETE FROM heads
WHERE execution_id = :id
    AND status IN ('completed', 'failed', 'cancelled')
    AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.sender = :id)
    AND NOT EXISTS (
        SELECT 1 FROM executions AS c JOIN outbox AS o ON o.sender = c.parent_id WHERE c.execution_id = :id
    )
    AND NOT EXISTS (SELECT 1 FROM places AS p WHERE p.execution_id = :id AND p.name IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM deliveries AS d WHERE d.execution_id = :id AND d.state = 'pending')
    AND (
        :before IS NULL
        OR EXISTS (SELECT 1 FROM executions AS e WHERE e.execution_id = :id AND e.finished_at < :before)
    )

-- name: purge_tags
DELETE FROM tags
WHERE (tag, created_at, execution_id) IN (
    SELECT value, e.created_at, e.execution_id
    FROM executions AS e, json_each(e.tags)
    WHERE e.execution_id = :id
)

-- name: purge_execution
DELETE FROM executions WHERE execution_id = :id

-- name: purge_entries
DELETE FROM events WHERE execution_id = :id

-- name: purge_snapshot
DELETE FROM snapshots WHERE execution_id = :id

-- name: purge_waits
DELETE FROM waits WHERE point IN (SELECT id FROM pause_points WHERE execution_id = :id)

-- name: purge_points
DELETE FROM pause_points WHERE execution_id = :id

-- name: purge_commands
DELETE FROM commands WHERE execution_id = :id

-- name: purge_tokens
DELETE FROM tokens WHERE execution_id = :id

-- name: purge_progress
DELETE FROM progress WHERE execution_id = :id

-- name: purge_node_logs
DELETE FROM node_logs WHERE execution_id = :id

-- name: purge_deliveries
DELETE FROM deliveries WHERE execution_id = :id

-- name: purge_links
DELETE FROM links WHERE execution_id = :id
