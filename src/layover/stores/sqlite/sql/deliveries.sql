-- name: insert_deliveries
-- A pending one without a lane leads. A known id stays as it is.
INSERT INTO deliveries (
    id, execution_id, workflow, n, lane, destination, kind, point, user, address, body, state, reason, created_at,
    due_at, epoch, attempts, history, settled_at, awaited, leads
)
VALUES (
    :id, :execution_id, :workflow, :n, :lane, :destination, :kind, :point, :user, :address, :body, :state, :reason,
    :created_at, :due_at, :epoch, :attempts, :history, :settled_at, :awaited,
    :lane = '' AND :state = 'pending'
)
ON CONFLICT DO NOTHING

-- name: align_lanes
-- The first pending delivery of a lane leads, and no other; the caller knows that it is among so many with the one that
-- led before.
UPDATE deliveries
SET leads = NOT leads
WHERE id IN (
    SELECT id
    FROM (
        SELECT id, leads, row_number() OVER (ORDER BY n, id) AS place
        FROM (
            SELECT id, leads, n
            FROM deliveries
            WHERE destination = :destination AND lane = :lane AND lane <> '' AND state = 'pending'
            ORDER BY n, id
            LIMIT :most
        )
    )
    WHERE leads <> (place = 1)
)

-- name: due_destinations
-- The destinations are found one after the other, without going through what waits for each.
WITH RECURSIVE found (name) AS (
    SELECT (
        SELECT destination
        FROM deliveries
        WHERE leads AND destination > ''
        ORDER BY destination
        LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT d.destination
        FROM deliveries AS d
        WHERE d.leads AND d.destination > found.name
        ORDER BY d.destination
        LIMIT 1
    )
    FROM found
    WHERE found.name IS NOT NULL
)

SELECT
    found.name,
    (SELECT min(d.due_at) FROM deliveries AS d WHERE d.leads AND d.destination = found.name),
    (
        SELECT min(d.due_at)
        FROM deliveries AS d
        WHERE d.leads AND d.destination = found.name AND d.due_at > :now
    ),
    t.name, t.config, t.state, t.reason, t.failures, t.failing_since, t.open_until, t.opened, t.free_at, t.changed_at
FROM found
LEFT JOIN destinations AS t ON t.name = found.name
WHERE found.name IS NOT NULL

-- name: due_deliveries
SELECT id, execution_id, workflow, n, lane, destination, kind, point, user, address, body, state, reason, created_at,
    due_at, epoch, attempts, history, settled_at, awaited
FROM deliveries
WHERE leads AND destination = :destination AND due_at <= :now
ORDER BY due_at, id
LIMIT :most

-- name: claim_deliveries
UPDATE deliveries SET epoch = :epoch, attempts = :attempts, due_at = :due_at WHERE id = :id

-- name: next_delivery_due_at
SELECT min(due_at) FROM deliveries WHERE leads AND destination = :destination

-- name: delivery_by_id
SELECT id, execution_id, workflow, n, lane, destination, kind, point, user, address, body, state, reason, created_at,
    due_at, epoch, attempts, history, settled_at, awaited
FROM deliveries
WHERE id = :id

-- name: write_delivery
-- One that becomes pending leads only without a lane, until its lane is aligned.
UPDATE deliveries
SET state = :state, reason = :reason, due_at = :due_at, epoch = :epoch, attempts = :attempts, history = :history,
    settled_at = :settled_at,
    leads = CASE WHEN :state <> 'pending' THEN 0 WHEN state = 'pending' THEN leads ELSE lane = '' END
WHERE id = :id

-- name: awaited_deliveries
SELECT id, state
FROM deliveries
WHERE execution_id = :execution_id AND n = :n AND awaited

-- name: end_wait_for_deliveries
UPDATE deliveries SET awaited = 0 WHERE id = :id

-- name: list_deliveries
-- Of one state.
SELECT id, execution_id, workflow, n, lane, destination, kind, point, user, address, body, state, reason, created_at,
    due_at, epoch, attempts, history, settled_at, awaited
FROM deliveries
WHERE state = :state
    AND (created_at, id) < (:after_at, :after_id)
    AND (:point IS NULL OR point = :point)
ORDER BY created_at DESC, id DESC
LIMIT :limit

-- name: list_deliveries_of_destination
-- Of one state.
SELECT id, execution_id, workflow, n, lane, destination, kind, point, user, address, body, state, reason, created_at,
    due_at, epoch, attempts, history, settled_at, awaited
FROM deliveries
WHERE destination = :destination AND state = :state
    AND (created_at, id) < (:after_at, :after_id)
    AND (:point IS NULL OR point = :point)
ORDER BY created_at DESC, id DESC
LIMIT :limit

-- name: list_deliveries_of_execution
-- Of one state.
SELECT id, execution_id, workflow, n, lane, destination, kind, point, user, address, body, state, reason, created_at,
    due_at, epoch, attempts, history, settled_at, awaited
FROM deliveries
WHERE execution_id IS NOT NULL AND execution_id = :execution_id AND state = :state
    AND (created_at, id) < (:after_at, :after_id)
    AND (:destination IS NULL OR destination = :destination)
    AND (:point IS NULL OR point = :point)
ORDER BY created_at DESC, id DESC
LIMIT :limit

-- name: count_sent_deliveries
SELECT count(*)
FROM (
    SELECT 1 FROM deliveries
    WHERE execution_id IS NOT NULL AND execution_id = :execution_id AND state = 'sent'
    LIMIT :most
)

-- name: count_waiting_deliveries
SELECT count(*)
FROM (SELECT 1 FROM deliveries WHERE leads AND destination = :destination LIMIT :most)

-- name: count_deliveries_by_destination
WITH RECURSIVE found (name) AS (
    SELECT (SELECT destination FROM deliveries WHERE destination > '' ORDER BY destination LIMIT 1)
    UNION ALL
    SELECT (
        SELECT d.destination FROM deliveries AS d WHERE d.destination > found.name ORDER BY d.destination LIMIT 1
    )
    FROM found
    WHERE found.name IS NOT NULL
)

SELECT
    found.name,
    (
        SELECT count(*)
        FROM (SELECT 1 FROM deliveries AS d WHERE d.destination = found.name AND d.state = 'pending' LIMIT :most)
    ),
    (
        SELECT count(*)
        FROM (SELECT 1 FROM deliveries AS d WHERE d.destination = found.name AND d.state = 'dead' LIMIT :most)
    ),
    (SELECT min(d.created_at) FROM deliveries AS d WHERE d.destination = found.name AND d.state = 'pending')
FROM found
WHERE found.name IS NOT NULL

-- name: empty_old_deliveries
UPDATE deliveries
SET body = x''
WHERE id IN (
    SELECT id
    FROM deliveries
    WHERE settled_at IS NOT NULL AND body <> x'' AND state <> 'dead' AND settled_at < :before
    ORDER BY settled_at, id
    LIMIT :most
)

-- name: delete_old_deliveries
DELETE FROM deliveries
WHERE id IN (
    SELECT id
    FROM deliveries
    WHERE settled_at IS NOT NULL AND settled_at < :before
    ORDER BY settled_at, id
    LIMIT :most
)

-- name: destination_by_name
SELECT name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
FROM destinations
WHERE name = :name

-- name: list_destinations
SELECT name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
FROM destinations
WHERE name > :after
ORDER BY name
LIMIT :limit

-- name: save_destinations
INSERT INTO destinations (
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
)
VALUES (
    :name, :config, :state, :reason, :failures, :failing_since, :open_until, :opened, :free_at, :changed_at
)
ON CONFLICT (name) DO UPDATE
SET config = excluded.config, state = excluded.state, reason = excluded.reason, failures = excluded.failures,
    failing_since = excluded.failing_since, open_until = excluded.open_until, opened = excluded.opened,
    free_at = excluded.free_at, changed_at = excluded.changed_at

-- name: delete_destination
DELETE FROM destinations WHERE name = :name
