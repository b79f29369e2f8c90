-- name: insert_batches
-- A known id stays as it is.
INSERT INTO batches (
    id, act, wanted, arguments, caller, user, state, code, reason, created_at, ended_at, due_at, epoch, interval,
    free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
)
VALUES (
    :id, :act, :wanted, :arguments, :caller, :user, :state, :code, :reason, :created_at, :ended_at, :due_at, :epoch,
    :interval, :free_at, :share, :watch, :canary, :watch_until, :cursor, :position, :total, :done, :skipped, :failed
)
ON CONFLICT DO NOTHING

-- name: batch_by_id
SELECT
    id, act, wanted, arguments, caller, user, state, code, reason, created_at, ended_at, due_at, epoch, interval,
    free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
FROM batches
WHERE id = :id

-- name: list_batches
SELECT
    id, act, wanted, arguments, caller, user, state, code, reason, created_at, ended_at, due_at, epoch, interval,
    free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
FROM batches
WHERE (created_at, id) < (:after_at, :after_id) AND (:state IS NULL OR state = :state)
ORDER BY created_at DESC, id DESC
LIMIT :limit

-- name: next_batch_due_at
SELECT min(due_at) FROM batches WHERE state IN ('collecting', 'running', 'watching')

-- name: due_batch
SELECT
    id, act, wanted, arguments, caller, user, state, code, reason, created_at, ended_at, due_at, epoch, interval,
    free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
FROM batches
WHERE state IN ('collecting', 'running', 'watching') AND due_at <= :now
ORDER BY due_at, id
LIMIT 1

-- name: write_batch_progress
UPDATE batches
SET
    state = :state, code = :code, reason = :reason, ended_at = :ended_at, due_at = :due_at, epoch = :epoch, free_at
    = :free_at, canary = :canary, watch_until = :watch_until, cursor = :cursor, position = :position, total =
    :total, done = :done, skipped = :skipped, failed = :failed
WHERE id = :id

-- name: insert_batch_items
INSERT INTO batch_items (batch_id, n, target, parent, pin, state, code, reason, at)
VALUES (:batch_id, :n, :target, :parent, :pin, :state, :code, :reason, :at)

-- name: settle_batch_items
UPDATE batch_items
SET state = :state, code = :code, reason = :reason, at = :at
WHERE batch_id = :batch_id AND n = :n

-- name: list_batch_items
SELECT n, target, parent, pin, state, code, reason, at
FROM batch_items
WHERE batch_id = :batch_id AND n > :after
ORDER BY n
LIMIT :limit

-- name: list_batch_items_in_state
SELECT n, target, parent, pin, state, code, reason, at
FROM batch_items
WHERE batch_id = :batch_id AND state = :state AND n > :after
ORDER BY n
LIMIT :limit

-- name: delete_batch_items
DELETE FROM batch_items
WHERE batch_id = :id
    AND n IN (SELECT n FROM batch_items WHERE batch_id = :id ORDER BY n LIMIT :most)

-- name: delete_batch
-- With its last items.
DELETE FROM batches
WHERE id = :id AND NOT EXISTS (SELECT 1 FROM batch_items WHERE batch_id = :id)

-- name: old_batch
SELECT id FROM batches WHERE ended_at IS NOT NULL AND ended_at < :before ORDER BY ended_at, id LIMIT 1
