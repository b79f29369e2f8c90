-- name: stray_rows
SELECT 'heads', execution_id FROM heads WHERE execution_id NOT IN (SELECT execution_id FROM executions)
UNION ALL
SELECT 'executions', execution_id FROM executions WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
SELECT DISTINCT 'events', execution_id FROM events WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
SELECT 'snapshots', execution_id FROM snapshots WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
SELECT DISTINCT 'pause_points', execution_id FROM pause_points
WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
SELECT DISTINCT 'commands', execution_id FROM commands WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
-- A trigger, a destination or a delivery has occasions, too, and a delivery has an outcome.
SELECT DISTINCT 'outbox', sender FROM outbox
WHERE sender NOT IN (SELECT execution_id FROM heads)
    AND kind <> 'notify'
    AND sender NOT IN (SELECT id FROM deliveries)
UNION ALL
SELECT DISTINCT 'tokens', execution_id FROM tokens WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
SELECT DISTINCT 'links', execution_id FROM links WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
SELECT DISTINCT 'node_logs', execution_id FROM node_logs WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
SELECT DISTINCT 'waits', execution_id FROM waits WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
SELECT 'places', execution_id FROM places WHERE execution_id NOT IN (SELECT execution_id FROM heads)
UNION ALL
SELECT DISTINCT 'tags', execution_id FROM tags WHERE execution_id NOT IN (SELECT execution_id FROM heads)

-- name: executions_without_version
SELECT execution_id FROM executions WHERE version_id NOT IN (SELECT id FROM versions)
