-- name: purgeable_executions
-- A child stays while its parent has messages: one may start the child once more.
SELECT e.execution_id
FROM layover.executions AS e
CROSS JOIN LATERAL (
    SELECT
    WHERE (
        SELECT TRUE
        FROM layover.heads AS h
        WHERE h.execution_id = e.execution_id
            AND h.status IN ('completed', 'failed', 'cancelled')
            AND ($3::text IS NULL OR h.workflow = $3)
    )
    AND (SELECT TRUE FROM layover.outbox AS o WHERE o.sender = e.execution_id LIMIT 1) IS NULL
    AND (SELECT TRUE FROM layover.outbox AS o WHERE o.sender = e.parent_id LIMIT 1) IS NULL
    AND (SELECT TRUE FROM layover.places AS p WHERE p.execution_id = e.execution_id AND p.name IS NOT NULL) IS NULL
    AND (
        SELECT TRUE
        FROM layover.deliveries AS d
        WHERE d.execution_id IS NOT NULL AND d.execution_id = e.execution_id AND d.state = 'pending'
        LIMIT 1
    ) IS NULL
    OFFSET 0 -- checked row by row until the page is full; a join would read and sort all
) AS wanted
WHERE e.finished_at < $1::bigint
ORDER BY e.finished_at, e.execution_id
LIMIT $2::bigint

-- name: lock_closed_heads
SELECT execution_id
FROM layover.heads
WHERE execution_id = ANY($1::uuid[]) AND status IN ('completed', 'failed', 'cancelled')
ORDER BY execution_id
FOR UPDATE

-- name: purge_executions
-- Begins after `lock_closed_heads`: nothing can be added to executions whose heads are locked.
WITH done AS MATERIALIZED (
    SELECT h.execution_id, floor(h.created_at / 604800000.0::double precision)::integer AS era
    FROM layover.heads AS h
    LEFT JOIN layover.executions AS e ON e.execution_id = h.execution_id
    WHERE h.execution_id = ANY($1::uuid[])
        AND ($2::bigint IS NULL OR e.finished_at < $2)
        AND NOT EXISTS (SELECT 1 FROM layover.outbox AS o WHERE o.sender = h.execution_id)
        AND NOT EXISTS (SELECT 1 FROM layover.outbox AS o WHERE o.sender = e.parent_id)
        AND NOT EXISTS (SELECT 1 FROM layover.places AS p WHERE p.execution_id = h.execution_id AND p.name IS NOT NULL)
        AND NOT EXISTS (
            SELECT 1
            FROM layover.deliveries AS v
            WHERE v.execution_id IS NOT NULL AND v.execution_id = h.execution_id AND v.state = 'pending'
        )
),
infos AS (
    DELETE FROM layover.executions AS e USING done AS d WHERE e.execution_id = d.execution_id
),
logs AS (
    DELETE FROM layover.events AS n USING done AS d WHERE n.execution_id = d.execution_id AND n.era = d.era
),
states AS (
    DELETE FROM layover.snapshots AS s USING done AS d WHERE s.execution_id = d.execution_id
),
unwaited AS (
    DELETE FROM layover.waits AS w
    USING done AS d, layover.pause_points AS p
    WHERE p.execution_id = d.execution_id AND w.point = p.id
),
points AS (
    DELETE FROM layover.pause_points AS p USING done AS d WHERE p.execution_id = d.execution_id
),
queues AS (
    DELETE FROM layover.commands AS c USING done AS d WHERE c.execution_id = d.execution_id
),
secrets AS (
    DELETE FROM layover.tokens AS t USING done AS d WHERE t.execution_id = d.execution_id
),
linked AS (
    DELETE FROM layover.links AS l USING done AS d WHERE l.execution_id = d.execution_id
),
reported AS (
    DELETE FROM layover.progress AS p USING done AS d WHERE p.execution_id = d.execution_id
),
logged AS (
    DELETE FROM layover.node_logs AS n USING done AS d WHERE n.execution_id = d.execution_id
),
delivered AS ( -- one that becomes pending at this moment stays, and is sent
    DELETE FROM layover.deliveries AS v
    USING done AS d
    WHERE v.execution_id IS NOT NULL AND v.execution_id = d.execution_id AND v.state <> 'pending'
),
unplaced AS (
    DELETE FROM layover.places AS p USING done AS d WHERE p.execution_id = d.execution_id
),
gone AS (
    DELETE FROM layover.heads AS h USING done AS d WHERE h.execution_id = d.execution_id RETURNING 1
)
SELECT count(*) FROM gone
