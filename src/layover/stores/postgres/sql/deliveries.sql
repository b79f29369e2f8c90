-- Whoever claims, settles, changes or inserts deliveries locks their destination first, and then deliveries.

-- name: insert_deliveries
-- A pending one without a lane leads. A known id stays as it is.
INSERT INTO layover.deliveries (
    id, execution_id, workflow, n, lane, destination, kind, point, "user", address, body, state, reason,
    created_at, due_at, epoch, attempts, history, settled_at, awaited, leads
)
SELECT
    id, execution_id, workflow, n, lane, destination, kind, point, "user", address, body, state, reason,
    created_at, due_at, epoch, attempts, history, settled_at, awaited, lane = '' AND state = 'pending'
FROM unnest(
    $1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::bytea[], $12::text[], $13::text[], $14::bigint[], $15::bigint[], $16::integer[],
    $17::integer[], $18::bytea[], $19::bigint[], $20::boolean[]
) AS g (
    id, execution_id, workflow, n, lane, destination, kind, point, "user", address, body, state, reason,
    created_at, due_at, epoch, attempts, history, settled_at, awaited
)
ORDER BY id
ON CONFLICT DO NOTHING
RETURNING destination, lane, state

-- name: align_lanes
-- The first pending delivery of a lane leads, and no other; the caller knows that it is among so many with the one that
-- led before.
UPDATE layover.deliveries AS d
SET leads = NOT d.leads
FROM unnest($1::text[], $2::text[], $3::bigint[]) AS g (destination, lane, most)
CROSS JOIN LATERAL (
    SELECT s.id, s.leads, row_number() OVER (ORDER BY s.n, s.id) AS place
    FROM (
        SELECT o.id, o.leads, o.n
        FROM layover.deliveries AS o
        WHERE o.destination = g.destination AND o.lane = g.lane AND o.lane <> '' AND o.state = 'pending'
        ORDER BY o.n, o.id
        LIMIT g.most
    ) AS s
) AS f
WHERE d.id = f.id AND f.leads <> (f.place = 1)

-- name: due_destinations
-- The destinations are found one after the other, without going through what waits for each.
WITH RECURSIVE found (name) AS (
    SELECT (
        SELECT destination
        FROM layover.deliveries
        WHERE leads AND destination > ''
        ORDER BY destination
        LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT d.destination
        FROM layover.deliveries AS d
        WHERE d.leads AND d.destination > f.name
        ORDER BY d.destination
        LIMIT 1
    )
    FROM found AS f
    WHERE f.name IS NOT NULL
)
SELECT
    f.name,
    (
        SELECT min(d.due_at)
        FROM layover.deliveries AS d
        WHERE d.leads AND d.destination = f.name
    ) AS first,
    (
        SELECT min(d.due_at)
        FROM layover.deliveries AS d
        WHERE d.leads AND d.destination = f.name AND d.due_at > $1::bigint
    ) AS later,
    t.name, t.config, t.state, t.reason, t.failures, t.failing_since, t.open_until, t.opened, t.free_at,
    t.changed_at
FROM found AS f
LEFT JOIN layover.destinations AS t ON t.name = f.name
WHERE f.name IS NOT NULL

-- name: claim_deliveries
-- There is always one row, for when the next one is due: it is behind those that are claimed.
WITH due AS MATERIALIZED (
    SELECT id, due_at
    FROM layover.deliveries
    WHERE leads AND destination = $1::text AND due_at <= $2::bigint
    ORDER BY due_at, id
    LIMIT $3::bigint
),
claimed AS (
    UPDATE layover.deliveries AS d
    SET epoch = d.epoch + 1, attempts = d.attempts + 1, due_at = $4::bigint
    FROM due
    WHERE d.id = due.id
    RETURNING due.due_at AS was_due_at,
        d.id, d.execution_id, d.workflow, d.n, d.lane, d.destination, d.kind, d.point, d."user", d.address, d.body,
        d.state, d.reason, d.created_at, d.due_at, d.epoch, d.attempts, d.history, d.settled_at, d.awaited
)
SELECT
    (
        SELECT n.due_at
        FROM layover.deliveries AS n
        WHERE n.leads AND n.destination = $1
        ORDER BY n.due_at, n.id
        OFFSET (SELECT count(*) FROM due)
        LIMIT 1
    ) AS next_due,
    c.*
FROM (SELECT 1) AS always
LEFT JOIN claimed AS c ON TRUE
ORDER BY c.was_due_at, c.id

-- name: delivery_by_id
SELECT id, execution_id, workflow, n, lane, destination, kind, point, "user", address, body, state, reason,
    created_at, due_at, epoch, attempts, history, settled_at, awaited
FROM layover.deliveries
WHERE id = $1::uuid

-- name: lock_delivery
SELECT id, execution_id, workflow, n, lane, destination, kind, point, "user", address, body, state, reason,
    created_at, due_at, epoch, attempts, history, settled_at, awaited
FROM layover.deliveries
WHERE id = $1::uuid
FOR NO KEY UPDATE

-- name: destination_of_delivery
SELECT destination FROM layover.deliveries WHERE id = $1::uuid

-- name: lock_destination_of_delivery
-- Also whether a point waits for the delivery, and of which event it is.
SELECT
    d.awaited, d.execution_id, d.n,
    t.name, t.config, t.state, t.reason, t.failures, t.failing_since, t.open_until, t.opened, t.free_at, t.changed_at
FROM layover.deliveries AS d
JOIN layover.destinations AS t ON t.name = d.destination
WHERE d.id = $1::uuid
FOR NO KEY UPDATE OF t

-- name: lock_deliveries
-- Each after its destination. One that a point waits for is left out if it is over: its event is locked before it.
SELECT d.id, d.execution_id, d.workflow, d.n, d.lane, d.destination, d.kind, d.point, d."user", d.address, d.body,
    d.state, d.reason, d.created_at, d.due_at, d.epoch, d.attempts, d.history, d.settled_at, d.awaited,
    t.name, t.config, t.state, t.reason, t.failures, t.failing_since, t.open_until, t.opened, t.free_at, t.changed_at
FROM unnest($1::uuid[], $2::boolean[]) AS g (id, is_over)
JOIN layover.deliveries AS d ON d.id = g.id
JOIN layover.destinations AS t ON t.name = d.destination
WHERE NOT (d.awaited AND g.is_over)
ORDER BY t.name, d.id
FOR NO KEY UPDATE OF t, d

-- name: write_outcomes
-- Of pending deliveries, at most one of each lane. Where one is over, the next of its lane leads; all parts see the rows
-- as they were before the statement, so that one is told apart by its id.
WITH followed AS (
    UPDATE layover.deliveries AS d
    SET leads = TRUE
    FROM unnest($8::text[], $9::text[]) AS l (destination, lane)
    CROSS JOIN LATERAL (
        SELECT o.id, o.leads
        FROM layover.deliveries AS o
        WHERE o.destination = l.destination AND o.lane = l.lane AND o.lane <> '' AND o.state = 'pending'
            AND o.id <> ALL($1::uuid[])
        ORDER BY o.n, o.id
        LIMIT 1
    ) AS f
    WHERE d.id = f.id AND NOT f.leads
),
judged AS (
    UPDATE layover.destinations AS t
    SET state = b.state, reason = b.reason, failures = b.failures, failing_since = b.failing_since,
        open_until = b.open_until, opened = b.opened, changed_at = b.changed_at
    FROM unnest(
        $10::text[], $11::text[], $12::text[], $13::integer[], $14::bigint[], $15::bigint[], $16::integer[],
        $17::bigint[]
    ) AS b (name, state, reason, failures, failing_since, open_until, opened, changed_at)
    WHERE t.name = b.name
)
UPDATE layover.deliveries AS d
SET state = g.state, reason = g.reason, due_at = g.due_at, attempts = g.attempts, history = g.history,
    settled_at = g.settled_at, leads = d.leads AND g.state = 'pending'
FROM unnest($1, $2::text[], $3::text[], $4::bigint[], $5::integer[], $6::bytea[], $7::bigint[])
    AS g (id, state, reason, due_at, attempts, history, settled_at)
WHERE d.id = g.id

-- name: write_delivery
-- One that becomes pending leads only without a lane, until its lane is aligned.
UPDATE layover.deliveries
SET state = $2::text, reason = $3::text, due_at = $4::bigint, epoch = $5::integer, attempts = $6::integer,
    history = $7::bytea, settled_at = $8::bigint,
    leads = CASE WHEN $2 <> 'pending' THEN FALSE WHEN state = 'pending' THEN leads ELSE lane = '' END
WHERE id = $1::uuid

-- name: lock_event
-- Held until the transaction ends: the last of the deliveries of an event is the last for all instances.
SELECT pg_advisory_xact_lock(hashtextextended('layover.deliveries:' || $1::uuid || ':' || $2::bigint, 0))

-- name: awaited_deliveries
SELECT id, state
FROM layover.deliveries
WHERE execution_id = $1::uuid AND n = $2::bigint AND awaited
ORDER BY id

-- name: end_wait_for_deliveries
UPDATE layover.deliveries SET awaited = FALSE WHERE id = ANY($1::uuid[])

-- name: send_messages
-- In the order of the key, so that two instances cannot wait for each other. One that is there already stays.
INSERT INTO layover.outbox (sender, n, destination, kind, body, due_at)
SELECT sender, n, destination, kind, body, due_at
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::bigint[])
    AS g (sender, n, destination, kind, body, due_at)
ORDER BY sender, destination, n
ON CONFLICT DO NOTHING

-- name: take_messages
-- Those that have no earlier one on their way. Locks in the order of the key, as `delete_messages` does.
WITH taken AS MATERIALIZED (
    SELECT o.sender, o.destination, o.n
    FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS m (sender, destination, n)
    JOIN layover.outbox AS o ON o.sender = m.sender AND o.destination = m.destination AND o.n = m.n
    WHERE NOT EXISTS (
        SELECT
        FROM layover.outbox AS e
        WHERE e.sender = m.sender AND e.destination = m.destination AND e.n < m.n
    )
    ORDER BY o.sender, o.destination, o.n
    FOR UPDATE OF o
)
DELETE FROM layover.outbox AS o
USING taken AS t
WHERE o.sender = t.sender AND o.destination = t.destination AND o.n = t.n
RETURNING o.n

-- name: list_deliveries
-- The indexes hold deliveries by state, so the lists of all states are merged. All columns of an index are compared, so
-- that no other one fits, however old the statistics are. The planner expects a CASE to keep half of the rows; it would
-- expect a comparison to keep hardly any, and would read and sort them all.
SELECT d.id, d.execution_id, d.workflow, d.n, d.lane, d.destination, d.kind, d.point, d."user", d.address, d.body,
    d.state, d.reason, d.created_at, d.due_at, d.epoch, d.attempts, d.history, d.settled_at, d.awaited
FROM unnest($1::text[]) AS s (state)
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.deliveries AS o
    WHERE (o.state, o.created_at, o.id) < (s.state, $2::bigint, $3::uuid)
        AND o.state >= s.state
        AND CASE WHEN $5::text IS NULL OR o.point = $5 THEN TRUE ELSE FALSE END
    ORDER BY o.state DESC, o.created_at DESC, o.id DESC
    LIMIT $4::bigint -- of each state
) AS d
ORDER BY d.created_at DESC, d.id DESC
LIMIT $4

-- name: list_deliveries_of_destination
-- As above.
SELECT d.id, d.execution_id, d.workflow, d.n, d.lane, d.destination, d.kind, d.point, d."user", d.address, d.body,
    d.state, d.reason, d.created_at, d.due_at, d.epoch, d.attempts, d.history, d.settled_at, d.awaited
FROM unnest($1::text[]) AS s (state)
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.deliveries AS o
    WHERE (o.destination, o.state, o.created_at, o.id) < ($6::text, s.state, $2::bigint, $3::uuid)
        AND (o.destination, o.state) >= ($6::text, s.state)
        AND CASE WHEN $5::text IS NULL OR o.point = $5 THEN TRUE ELSE FALSE END
    ORDER BY o.destination DESC, o.state DESC, o.created_at DESC, o.id DESC
    LIMIT $4::bigint -- of each state
) AS d
ORDER BY d.created_at DESC, d.id DESC
LIMIT $4

-- name: list_deliveries_of_execution
-- As above.
SELECT d.id, d.execution_id, d.workflow, d.n, d.lane, d.destination, d.kind, d.point, d."user", d.address, d.body,
    d.state, d.reason, d.created_at, d.due_at, d.epoch, d.attempts, d.history, d.settled_at, d.awaited
FROM unnest($1::text[]) AS s (state)
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.deliveries AS o
    WHERE (o.execution_id, o.state, o.created_at, o.id) < ($7::uuid, s.state, $2::bigint, $3::uuid)
        AND (o.execution_id, o.state) >= ($7::uuid, s.state)
        AND o.execution_id IS NOT NULL
        AND CASE WHEN ($5::text IS NULL OR o.point = $5) AND ($6::text IS NULL OR o.destination = $6) THEN TRUE ELSE FALSE END
    ORDER BY o.execution_id DESC, o.state DESC, o.created_at DESC, o.id DESC
    LIMIT $4::bigint -- of each state
) AS d
ORDER BY d.created_at DESC, d.id DESC
LIMIT $4

-- name: count_sent_deliveries
SELECT count(*)
FROM layover.deliveries
WHERE execution_id IS NOT NULL AND execution_id = $1::uuid AND state = 'sent'

-- name: count_waiting_deliveries
SELECT count(*)
FROM (
    SELECT 1 FROM layover.deliveries WHERE leads AND destination = $1::text LIMIT $2::bigint
) AS counted

-- name: count_deliveries_by_destination
WITH RECURSIVE found (name) AS (
    SELECT (
        SELECT destination FROM layover.deliveries WHERE destination > '' ORDER BY destination LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT d.destination
        FROM layover.deliveries AS d
        WHERE d.destination > f.name
        ORDER BY d.destination
        LIMIT 1
    )
    FROM found AS f
    WHERE f.name IS NOT NULL
)
SELECT
    f.name,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM layover.deliveries AS d WHERE d.destination = f.name AND d.state = 'pending' LIMIT $1::bigint
        ) AS counted
    ) AS pending,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM layover.deliveries AS d WHERE d.destination = f.name AND d.state = 'dead' LIMIT $1
        ) AS counted
    ) AS dead,
    (
        SELECT min(d.created_at) FROM layover.deliveries AS d WHERE d.destination = f.name AND d.state = 'pending'
    ) AS oldest
FROM found AS f
WHERE f.name IS NOT NULL
ORDER BY f.name

-- name: empty_old_deliveries
WITH old AS MATERIALIZED (
    SELECT id
    FROM layover.deliveries
    WHERE settled_at IS NOT NULL AND body <> '' AND state <> 'dead' AND settled_at < $1::bigint
    ORDER BY settled_at, id
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
emptied AS (
    UPDATE layover.deliveries AS d SET body = '' FROM old AS o WHERE d.id = o.id RETURNING 1
)
SELECT count(*) FROM emptied

-- name: delete_old_deliveries
WITH old AS MATERIALIZED (
    SELECT id
    FROM layover.deliveries
    WHERE settled_at IS NOT NULL AND settled_at < $1::bigint
    ORDER BY settled_at, id
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM layover.deliveries AS d USING old AS o WHERE d.id = o.id RETURNING 1
)
SELECT count(*) FROM gone

-- name: destination_by_name
SELECT name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
FROM layover.destinations
WHERE name = $1::text

-- name: lock_destinations
-- In the order of their names, so that two instances cannot wait for each other.
SELECT name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
FROM layover.destinations
WHERE name = ANY($1::text[])
ORDER BY name
FOR NO KEY UPDATE

-- name: list_destinations
SELECT name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
FROM layover.destinations
WHERE name > $1::text
ORDER BY name
LIMIT $2::bigint

-- name: create_destinations
-- In the order of their names, too.
INSERT INTO layover.destinations (
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
)
SELECT name, '', 'active', '', 0, NULL, NULL, 0, 0, 0
FROM unnest($1::text[]) AS g (name)
ORDER BY name
ON CONFLICT DO NOTHING

-- name: save_destinations
INSERT INTO layover.destinations (
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
)
SELECT
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
FROM unnest(
    $1::text[], $2::bytea[], $3::text[], $4::text[], $5::integer[], $6::bigint[], $7::bigint[], $8::integer[],
    $9::bigint[], $10::bigint[]
) AS g (
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
)
ORDER BY name
ON CONFLICT (name) DO UPDATE
SET config = excluded.config, state = excluded.state, reason = excluded.reason, failures = excluded.failures,
    failing_since = excluded.failing_since, open_until = excluded.open_until, opened = excluded.opened,
    free_at = excluded.free_at, changed_at = excluded.changed_at

-- name: delete_destination
DELETE FROM layover.destinations WHERE name = $1::text
