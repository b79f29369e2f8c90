-- A place is the row of an execution under limits: it holds a slot or is in the queue for one.

-- name: lock_limits
-- Held until the transaction ends. The name of the schema keeps databases with several schemas apart.
SELECT pg_advisory_xact_lock(hashtextextended('layover.' || name, 0))
FROM unnest($1::text[]) WITH ORDINALITY AS given (name, place)
ORDER BY place

-- name: limits_of_execution
SELECT
    heads.status,
    (SELECT count(*) FROM layover.places AS held WHERE held.name = $2::text AND held.held_at IS NOT NULL) AS held,
    (SELECT rates.used_until FROM layover.rates AS rates WHERE rates.name = $3::text) AS used_until,
    places.execution_id, places.name, places.most, places.rank, places.held_at, places.rate, places.rate_limit,
    places.rate_per_ms, places.start_at, places.admitted
FROM layover.heads AS heads
LEFT JOIN layover.places AS places ON places.execution_id = heads.execution_id
WHERE heads.execution_id = $1::uuid

-- name: slots_of_execution
SELECT name FROM layover.places WHERE execution_id = $1::uuid

-- name: count_other_slot_holders
SELECT (
    SELECT count(*)
    FROM layover.places AS held
    WHERE held.name = places.name AND held.held_at IS NOT NULL AND held.execution_id <> places.execution_id
)
FROM layover.places AS places
WHERE places.execution_id = $1::uuid

-- name: slot_holders
SELECT execution_id
FROM layover.places
WHERE name = $1::text AND held_at IS NOT NULL
ORDER BY held_at, execution_id
LIMIT $2::integer

-- name: queue_for_slots
SELECT execution_id FROM layover.places WHERE name = $1::text AND held_at IS NULL ORDER BY rank, execution_id

-- name: next_in_queue
SELECT
    heads.status IS NOT NULL AND heads.status NOT IN ('completed', 'failed', 'cancelled') AS is_open,
    places.execution_id, places.name, places.most, places.rank, places.held_at, places.rate, places.rate_limit,
    places.rate_per_ms, places.start_at, places.admitted
FROM layover.places AS places
LEFT JOIN layover.heads AS heads ON heads.execution_id = places.execution_id
WHERE places.name = $1::text AND places.held_at IS NULL AND (places.rank, places.execution_id) > ($2::bigint, $3::uuid)
ORDER BY places.rank, places.execution_id
LIMIT $4::integer

-- name: admission_of_execution
SELECT
    places.execution_id, places.name, places.most, places.rank, places.held_at, places.rate, places.rate_limit,
    places.rate_per_ms, places.start_at, places.admitted,
    CASE WHEN places.name IS NOT NULL AND places.held_at IS NULL THEN (
        SELECT count(*)
        FROM layover.places AS ahead
        WHERE
            ahead.name = places.name
            AND ahead.held_at IS NULL
            AND (ahead.rank, ahead.execution_id) < (places.rank, places.execution_id)
    ) ELSE 0 END AS ahead,
    ARRAY(
        SELECT holders.execution_id
        FROM layover.places AS holders
        WHERE holders.name = places.name AND holders.held_at IS NOT NULL
        ORDER BY holders.held_at, holders.execution_id
        LIMIT $2::integer
    ) AS holders
FROM layover.places AS places
WHERE places.execution_id = $1::uuid

-- name: save_places
INSERT INTO layover.places (
    execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted
)
SELECT execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted
FROM unnest(
    $1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::boolean[]
) AS given (execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted)
ON CONFLICT (execution_id) DO UPDATE
SET held_at = excluded.held_at, start_at = excluded.start_at, admitted = excluded.admitted

-- name: delete_places
DELETE FROM layover.places WHERE execution_id = ANY ($1::uuid[])

-- name: rates_by_name
SELECT name, used_until FROM layover.rates WHERE name = ANY ($1::text[])

-- name: save_rates
INSERT INTO layover.rates (name, used_until)
SELECT name, used_until FROM unnest($1::text[], $2::bigint[]) AS given (name, used_until)
ON CONFLICT (name) DO UPDATE SET used_until = excluded.used_until

-- name: delete_unused_rates
-- A rate without a row counts as unused. One in use at this moment is skipped, so no one waits.
DELETE FROM layover.rates
WHERE name = ANY (
    ARRAY(
        SELECT unused.name
        FROM layover.rates AS unused
        WHERE unused.used_until <= $1::bigint
        FOR UPDATE SKIP LOCKED
    )
)
RETURNING name

-- name: make_messages_due_sooner
-- An execution that may start now must not wait for the message that would have asked again later.
-- Locks in the same order as `delete_messages`.
WITH found AS MATERIALIZED (
    SELECT outbox.sender, outbox.destination, outbox.n, given.due_at
    FROM unnest($1::uuid[], $2::bigint[]) AS given (sender, due_at)
    INNER JOIN layover.outbox AS outbox ON outbox.sender = given.sender AND outbox.destination = given.sender::text
    WHERE outbox.due_at > given.due_at
    ORDER BY outbox.sender, outbox.destination, outbox.n
    FOR NO KEY UPDATE OF outbox
)
UPDATE layover.outbox AS outbox
SET due_at = found.due_at
FROM found
WHERE outbox.sender = found.sender AND outbox.destination = found.destination AND outbox.n = found.n
