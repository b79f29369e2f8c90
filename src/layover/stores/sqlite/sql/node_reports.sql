-- name: save_progress
-- Not for an execution that was purged meanwhile, nor over the progress of a later attempt.
INSERT INTO progress (execution_id, node, attempt, at, body)
SELECT :id, :node, :attempt, :at, :body
WHERE EXISTS (SELECT 1 FROM heads WHERE execution_id = :id)
ON CONFLICT (execution_id, node) DO UPDATE
SET attempt = excluded.attempt, at = excluded.at, body = excluded.body
WHERE excluded.attempt >= progress.attempt

-- name: delete_progress
DELETE FROM progress WHERE execution_id = :id AND node = :node AND attempt <= :attempt

-- name: progress_of_execution
SELECT execution_id, node, attempt, at, body FROM progress WHERE execution_id = :id ORDER BY node

-- name: save_log_chunk
-- Not for an execution that was purged meanwhile, nor for one that has as many bytes as it may.
INSERT INTO node_logs (execution_id, id, node, attempt, at, lines, dropped, body)
SELECT :execution_id, :id, :node, :attempt, :at, :lines, :dropped, :body
WHERE EXISTS (SELECT 1 FROM heads WHERE execution_id = :execution_id)
    AND (SELECT coalesce(sum(length(body)), 0) FROM node_logs WHERE execution_id = :execution_id) <= :most

-- name: delete_log_chunk
DELETE FROM node_logs WHERE execution_id = :execution_id AND id = :id

-- name: note_dropped_lines
UPDATE node_logs SET dropped = :dropped WHERE execution_id = :execution_id AND id = :id

-- name: log_chunks_of_execution
SELECT execution_id, id, node, attempt, at, lines, dropped, body
FROM node_logs
WHERE execution_id = :execution_id
    AND id > :after
    AND (:node IS NULL OR node = :node)
ORDER BY id
LIMIT :limit
