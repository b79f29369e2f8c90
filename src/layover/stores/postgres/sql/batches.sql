-- name: insert_batches
-- A known id stays as it is.
INSERT INTO layover.batches (
    id, act, wanted, arguments, caller, "user", state, code, reason, created_at, ended_at, due_at, epoch,
    "interval", free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
)
VALUES (
    $1::uuid, $2::text, $3::bytea, $4::bytea, $5::bytea, $6::text, $7::text, $8::text, $9::text, $10::bigint,
    $11::bigint, $12::bigint, $13::bigint, $14::bigint, $15::bigint, $16::integer, $17::bigint, $18::bigint,
    $19::bigint, $20::text, $21::bigint, $22::bigint, $23::bigint, $24::bigint, $25::bigint
)
ON CONFLICT DO NOTHING
RETURNING TRUE

-- name: batch_by_id
SELECT
    id, act, wanted, arguments, caller, "user", state, code, reason, created_at, ended_at, due_at, epoch,
    "interval", free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
FROM layover.batches
WHERE id = $1::uuid

-- name: lock_batch
SELECT
    id, act, wanted, arguments, caller, "user", state, code, reason, created_at, ended_at, due_at, epoch,
    "interval", free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
FROM layover.batches
WHERE id = $1::uuid
FOR NO KEY UPDATE

-- name: list_batches
SELECT
    id, act, wanted, arguments, caller, "user", state, code, reason, created_at, ended_at, due_at, epoch,
    "interval", free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
FROM layover.batches
WHERE (created_at, id) < ($1::bigint, $2::uuid) AND ($3::text IS NULL OR state = $3)
ORDER BY created_at DESC, id DESC
LIMIT $4::bigint

-- name: next_batch_due_at
SELECT due_at
FROM layover.batches
WHERE state IN ('collecting', 'running', 'watching') AND due_at >= 0
ORDER BY due_at
LIMIT 1

-- name: lock_due_batch
-- One that another instance is just claiming is left to it.
SELECT
    id, act, wanted, arguments, caller, "user", state, code, reason, created_at, ended_at, due_at, epoch,
    "interval", free_at, share, watch, canary, watch_until, cursor, position, total, done, skipped, failed
FROM layover.batches
WHERE state IN ('collecting', 'running', 'watching') AND due_at <= $1::bigint
ORDER BY due_at, id
LIMIT 1
FOR NO KEY UPDATE SKIP LOCKED

-- name: write_batch_progress
UPDATE layover.batches
SET
    state = $2::text, code = $3::text, reason = $4::text, ended_at = $5::bigint, due_at = $6::bigint, epoch =
    $7::bigint, free_at = $8::bigint, canary = $9::bigint, watch_until = $10::bigint, cursor = $11::text, position =
    $12::bigint, total = $13::bigint, done = $14::bigint, skipped = $15::bigint, failed = $16::bigint
WHERE id = $1::uuid

-- name: insert_batch_items
INSERT INTO layover.batch_items (batch_id, n, target, parent, pin, state, code, reason, at)
SELECT $1::uuid, n, target, parent, pin, state, code, reason, at
FROM unnest(
    $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[]
) AS g (n, target, parent, pin, state, code, reason, at)

-- name: settle_batch_items
UPDATE layover.batch_items AS i
SET state = g.state, code = g.code, reason = g.reason, at = g.at
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[])
    AS g (batch_id, n, state, code, reason, at)
WHERE i.batch_id = g.batch_id AND i.n = g.n

-- name: list_batch_items
SELECT n, target, parent, pin, state, code, reason, at
FROM layover.batch_items
WHERE batch_id = $1::uuid AND n > $2::bigint
ORDER BY n
LIMIT $3::bigint

-- name: list_batch_items_in_state
SELECT n, target, parent, pin, state, code, reason, at
FROM layover.batch_items
WHERE batch_id = $1::uuid AND state = $4::text AND n > $2::bigint
ORDER BY n
LIMIT $3::bigint

-- name: delete_batch_items
WITH gone AS (
    DELETE FROM layover.batch_items AS i
    USING (SELECT n FROM layover.batch_items WHERE batch_id = $1::uuid ORDER BY n LIMIT $2::bigint) AS f
    WHERE i.batch_id = $1 AND i.n = f.n
    RETURNING 1
)
SELECT count(*) FROM gone

-- name: delete_batch
-- With its last items.
DELETE FROM layover.batches AS b
WHERE b.id = $1::uuid AND NOT EXISTS (SELECT 1 FROM layover.batch_items AS i WHERE i.batch_id = $1)
RETURNING TRUE

-- name: old_batch
SELECT id FROM layover.batches WHERE ended_at IS NOT NULL AND ended_at < $1::bigint ORDER BY ended_at, id LIMIT 1
