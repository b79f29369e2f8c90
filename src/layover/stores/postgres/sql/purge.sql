WITH done AS MATERIALIZED (
    SELECT h.execution_id, floor(h.created_at / 604800000.0::double precision)::integer AS era
    FROM layover.heads AS h
    LEFT JOIN layover.executions AS e ON e.execution_id = h.execution_id
    WHERE h.execution_id = ANY($1::uuid[])
        AND ($2::bigint IS NULL OR e.finished_at < $2)
        AND NOT EXISTS (SELECT 1 FROM layover.outbox AS o WHERE o.sender = h.execution_id)
        AND NOT EXISTS (SELECT 1 FROM layover.outbox AS o WHERE o.sender = e.parent_id)
        AND NOT EXISTS (SELECT 1 FROM layover.places AS p WHERE p.execution_id = h.execution_id AND p.name IS NOT NULL)
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
unplaced AS (
    DELETE FROM layover.places AS p USING done AS d WHERE p.execution_id = d.execution_id
),
gone AS (
    DELETE FROM layover.heads AS h USING done AS d WHERE h.execution_id = d.execution_id RETURNING 1
)
SELECT count(*) FROM gone
