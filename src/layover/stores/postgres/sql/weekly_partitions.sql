-- The log of an execution is in the partition of the week in which it began, which the column `era` counts from 1970.

-- name: weeks_without_partition
SELECT w.era
FROM unnest($1::integer[]) AS w (era)
WHERE NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_inherits AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'layover.events'::regclass AND c.relname = 'events_' || w.era
)
ORDER BY w.era

-- name: ended_partitions
SELECT p.era
FROM (
    SELECT substring(c.relname FROM '^events_([0-9]{1,9})$')::integer AS era
    FROM pg_catalog.pg_inherits AS i
    JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = 'layover.events'::regclass
) AS p
WHERE p.era < $1::integer
ORDER BY p.era

-- name: default_partition_has_week
SELECT EXISTS (SELECT FROM layover.events_rest WHERE era = $1::integer)

-- name: has_executions_between
SELECT EXISTS (SELECT FROM layover.executions WHERE created_at >= $1::bigint AND created_at < $2::bigint)

-- name: has_heads_between
SELECT EXISTS (SELECT FROM layover.heads WHERE created_at >= $1::bigint AND created_at < $2::bigint)

-- name: has_needed_executions_between
SELECT EXISTS (
    SELECT
    FROM layover.executions AS e
    LEFT JOIN layover.heads AS h ON h.execution_id = e.execution_id
    WHERE e.created_at >= $1::bigint
        AND e.created_at < $2::bigint
        AND (
            h.execution_id IS NULL
            OR h.status NOT IN ('completed', 'failed', 'cancelled')
            OR e.finished_at IS NULL
            OR e.finished_at >= $3::bigint
            OR EXISTS (SELECT FROM layover.outbox AS o WHERE o.sender = e.execution_id)
            OR EXISTS (SELECT FROM layover.outbox AS o WHERE o.sender = e.parent_id)
            OR EXISTS (SELECT FROM layover.places AS p WHERE p.execution_id = e.execution_id AND p.name IS NOT NULL)
            OR EXISTS (
                SELECT
                FROM layover.deliveries AS d
                WHERE d.execution_id IS NOT NULL AND d.execution_id = e.execution_id AND d.state = 'pending'
            )
        )
)

-- name: purge_between
-- An instance that opens an execution again holds its head: then this statement fails and deletes nothing. Rows other
-- than the locked heads are seen as they were when the statement began, so a head that has moved since is not purged.
WITH locked AS MATERIALIZED (
    SELECT
        h.execution_id,
        h.status IN ('completed', 'failed', 'cancelled')
        AND h.last_seq = seen.last_seq
        AND e.finished_at < $3::bigint
        AND NOT EXISTS (SELECT FROM layover.outbox AS o WHERE o.sender = e.execution_id)
        AND NOT EXISTS (SELECT FROM layover.outbox AS o WHERE o.sender = e.parent_id)
        AND NOT EXISTS (SELECT FROM layover.places AS p WHERE p.execution_id = e.execution_id AND p.name IS NOT NULL)
        AND NOT EXISTS (
            SELECT
            FROM layover.deliveries AS d
            WHERE d.execution_id IS NOT NULL AND d.execution_id = e.execution_id AND d.state = 'pending'
        ) AS is_expendable
    FROM layover.executions AS e
    JOIN layover.heads AS h ON h.execution_id = e.execution_id
    JOIN layover.heads AS seen ON seen.execution_id = e.execution_id
    WHERE e.created_at >= $1::bigint AND e.created_at < $2::bigint
    ORDER BY h.execution_id
    FOR UPDATE OF h NOWAIT
),
verdict AS MATERIALIZED (
    SELECT coalesce(bool_and(l.is_expendable IS TRUE), FALSE) AND count(*) = (
        SELECT count(*) FROM layover.executions AS e WHERE e.created_at >= $1::bigint AND e.created_at < $2::bigint
    ) AS all_expendable
    FROM locked AS l
),
gone AS MATERIALIZED (
    SELECT l.execution_id FROM locked AS l WHERE (SELECT v.all_expendable FROM verdict AS v)
),
waits AS (
    DELETE FROM layover.waits AS t
    USING layover.pause_points AS p, gone AS g
    WHERE p.execution_id = g.execution_id AND t.point = p.id
),
pause_points AS (DELETE FROM layover.pause_points AS t USING gone AS g WHERE t.execution_id = g.execution_id),
snapshots AS (DELETE FROM layover.snapshots AS t USING gone AS g WHERE t.execution_id = g.execution_id),
commands AS (DELETE FROM layover.commands AS t USING gone AS g WHERE t.execution_id = g.execution_id),
tokens AS (DELETE FROM layover.tokens AS t USING gone AS g WHERE t.execution_id = g.execution_id),
links AS (DELETE FROM layover.links AS t USING gone AS g WHERE t.execution_id = g.execution_id),
progress AS (DELETE FROM layover.progress AS t USING gone AS g WHERE t.execution_id = g.execution_id),
node_logs AS (DELETE FROM layover.node_logs AS t USING gone AS g WHERE t.execution_id = g.execution_id),
deliveries AS ( -- one that becomes pending at this moment stays, and is sent
    DELETE FROM layover.deliveries AS t
    USING gone AS g
    WHERE t.execution_id IS NOT NULL AND t.execution_id = g.execution_id AND t.state <> 'pending'
),
places AS (DELETE FROM layover.places AS t USING gone AS g WHERE t.execution_id = g.execution_id),
executions AS (DELETE FROM layover.executions AS t USING gone AS g WHERE t.execution_id = g.execution_id),
heads AS (DELETE FROM layover.heads AS t USING gone AS g WHERE t.execution_id = g.execution_id)
SELECT count(*) FROM gone
