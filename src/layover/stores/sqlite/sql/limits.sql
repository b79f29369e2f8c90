-- A place is the row of an execution under limits: it holds a slot or is in the queue for one.

-- name: place_of_execution
SELECT execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted
FROM places
WHERE execution_id = :id

-- name: save_places
INSERT INTO places (execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted)
VALUES (:id, :name, :most, :rank, :held_at, :rate, :rate_limit, :rate_per_ms, :start_at, :admitted)
ON CONFLICT (execution_id) DO UPDATE
SET held_at = excluded.held_at, start_at = excluded.start_at, admitted = excluded.admitted

-- name: delete_places
DELETE FROM places WHERE execution_id = :id

-- name: count_slot_holders
SELECT count(*) FROM places WHERE name = :name AND held_at IS NOT NULL

-- name: slot_holders
SELECT execution_id FROM places WHERE name = :name AND held_at IS NOT NULL ORDER BY held_at, execution_id LIMIT :most

-- name: queue_for_slots
SELECT execution_id FROM places WHERE name = :name AND held_at IS NULL ORDER BY rank, execution_id

-- name: next_in_queue
SELECT execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted
FROM places
WHERE name = :name AND held_at IS NULL
ORDER BY rank, execution_id
LIMIT 1

-- name: count_ahead_in_queue
SELECT count(*) FROM places WHERE name = :name AND held_at IS NULL AND (rank, execution_id) < (:rank, :id)

-- name: rates_by_name
SELECT used_until FROM rates WHERE name = :name

-- name: save_rates
INSERT INTO rates (name, used_until) VALUES (:name, :used_until)
ON CONFLICT (name) DO UPDATE SET used_until = excluded.used_until

-- name: delete_unused_rates
-- A rate without a row counts as unused.
DELETE FROM rates WHERE used_until <= :now

-- name: make_messages_due_sooner
-- An execution that may start now must not wait for the message that would have asked again later.
UPDATE outbox SET due_at = :due_at
WHERE sender = :sender AND destination = :destination AND due_at > :due_at
