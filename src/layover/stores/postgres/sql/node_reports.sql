-- name: save_progress
-- Not for an execution that was purged meanwhile, nor over the progress of a later attempt.
INSERT INTO layover.progress (execution_id, node, attempt, at, body)
SELECT g.execution_id, g.node, g.attempt, g.at, g.body
FROM unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::bytea[])
    AS g (execution_id, node, attempt, at, body)
WHERE EXISTS (SELECT FROM layover.heads AS h WHERE h.execution_id = g.execution_id)
ON CONFLICT (execution_id, node) DO UPDATE
SET attempt = excluded.attempt, at = excluded.at, body = excluded.body
WHERE excluded.attempt >= progress.attempt

-- name: delete_progress
DELETE FROM layover.progress AS p
USING unnest($1::uuid[], $2::text[], $3::integer[]) AS g (execution_id, node, attempt)
WHERE p.execution_id = g.execution_id AND p.node = g.node AND p.attempt <= g.attempt

-- name: progress_of_executions
SELECT p.execution_id, p.node, p.attempt, p.at, p.body
FROM layover.progress AS p
WHERE p.execution_id = ANY($1::uuid[])
ORDER BY p.execution_id, p.node

-- name: save_log_chunks
-- Not for an execution that was purged meanwhile, which its locked head keeps from happening; nor for one that has as
-- many bytes as it may. The lock holds up no step.
WITH open AS MATERIALIZED (
    SELECT execution_id FROM layover.heads WHERE execution_id = ANY ($1::uuid[]) ORDER BY execution_id FOR KEY SHARE
)
INSERT INTO layover.node_logs (execution_id, id, node, attempt, at, lines, dropped, body)
SELECT g.execution_id, g.id, g.node, g.attempt, g.at, g.lines, g.dropped, g.body
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::integer[], $7::integer[], $8::bytea[]
) AS g (execution_id, id, node, attempt, at, lines, dropped, body)
WHERE g.execution_id IN (SELECT o.execution_id FROM open AS o)
    AND (
        SELECT coalesce(sum(length(n.body)), 0) FROM layover.node_logs AS n WHERE n.execution_id = g.execution_id
    ) <= $9::bigint
RETURNING id

-- name: delete_log_chunks
DELETE FROM layover.node_logs AS n
USING unnest($1::uuid[], $2::text[]) AS g (execution_id, id)
WHERE n.execution_id = g.execution_id AND n.id = g.id

-- name: note_dropped_lines
UPDATE layover.node_logs AS n
SET dropped = g.dropped
FROM unnest($1::uuid[], $2::text[], $3::integer[]) AS g (execution_id, id, dropped)
WHERE n.execution_id = g.execution_id AND n.id = g.id

-- name: log_chunks_of_execution
SELECT n.execution_id, n.id, n.node, n.attempt, n.at, n.lines, n.dropped, n.body
FROM layover.node_logs AS n
-- Compared and ordered by the whole index, so that nothing is sorted.
WHERE (n.execution_id, n.id) > ($1::uuid, $2::text)
    AND n.execution_id <= $1::uuid
    AND ($3::text IS NULL OR n.node = $3)
ORDER BY n.execution_id, n.id
LIMIT $4::bigint
