-- name: allow_sequential_scans
-- For the transaction: whole tables are counted, and connections forbid such scans.
SELECT set_config('enable_seqscan', 'on', TRUE)

-- name: stray_rows
SELECT 'heads' AS kept_in, r.execution_id AS execution_id
FROM layover.heads AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.executions AS o WHERE o.execution_id = r.execution_id)
UNION ALL
SELECT 'executions' AS kept_in, r.execution_id AS execution_id
FROM layover.executions AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
UNION ALL
SELECT DISTINCT 'events' AS kept_in, r.execution_id AS execution_id
FROM layover.events AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
UNION ALL
SELECT 'snapshots' AS kept_in, r.execution_id AS execution_id
FROM layover.snapshots AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
UNION ALL
SELECT DISTINCT 'pause_points' AS kept_in, r.execution_id AS execution_id
FROM layover.pause_points AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
UNION ALL
SELECT DISTINCT 'commands' AS kept_in, r.execution_id AS execution_id
FROM layover.commands AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
UNION ALL
SELECT DISTINCT 'node_logs' AS kept_in, r.execution_id AS execution_id
FROM layover.node_logs AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
UNION ALL
-- A trigger, a destination or a delivery has occasions, too, and a delivery has an outcome.
SELECT DISTINCT 'outbox' AS kept_in, r.sender AS execution_id
FROM layover.outbox AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.sender)
    AND r.kind <> 'notify'
    AND NOT EXISTS (SELECT 1 FROM layover.deliveries AS d WHERE d.id = r.sender)
UNION ALL
SELECT DISTINCT 'tokens' AS kept_in, r.execution_id AS execution_id
FROM layover.tokens AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
UNION ALL
SELECT DISTINCT 'links' AS kept_in, r.execution_id AS execution_id
FROM layover.links AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
UNION ALL
SELECT DISTINCT 'waits' AS kept_in, r.execution_id AS execution_id
FROM layover.waits AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
UNION ALL
SELECT 'places' AS kept_in, r.execution_id AS execution_id
FROM layover.places AS r
WHERE NOT EXISTS (SELECT 1 FROM layover.heads AS o WHERE o.execution_id = r.execution_id)
ORDER BY kept_in, execution_id

-- name: executions_without_version
SELECT e.execution_id
FROM layover.executions AS e
WHERE NOT EXISTS (SELECT 1 FROM layover.versions AS v WHERE v.id = e.version_id)
ORDER BY e.execution_id
