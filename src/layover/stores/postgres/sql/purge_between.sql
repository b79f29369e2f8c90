-- Whoever opens an execution again holds its head: then this fails, and nothing is done. What is not read from a head
-- is as it was when the statement began; a head that has moved on since then is not taken for it.
WITH locked AS MATERIALIZED (
    SELECT
        h.execution_id,
        h.status IN ('completed', 'failed', 'cancelled')
        AND h.last_seq = seen.last_seq
        AND e.finished_at < $3::bigint
        AND NOT EXISTS (SELECT FROM layover.outbox AS o WHERE o.sender = e.execution_id)
        AND NOT EXISTS (SELECT FROM layover.outbox AS o WHERE o.sender = e.parent_id)
        AND NOT EXISTS (SELECT FROM layover.places AS p WHERE p.execution_id = e.execution_id AND p.name IS NOT NULL)
        AS is_expendable
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
places AS (DELETE FROM layover.places AS t USING gone AS g WHERE t.execution_id = g.execution_id),
executions AS (DELETE FROM layover.executions AS t USING gone AS g WHERE t.execution_id = g.execution_id),
heads AS (DELETE FROM layover.heads AS t USING gone AS g WHERE t.execution_id = g.execution_id)
SELECT count(*) FROM gone
