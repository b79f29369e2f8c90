-- Instances, the time that they share, and the hints that they send each other.

-- name: register_instance
-- No row while a living instance has the name.
INSERT INTO layover.instances AS i (name, seen_at) VALUES ($1::text, $2::bigint)
ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at WHERE i.seen_at <= $3::bigint
RETURNING name

-- name: heartbeat
-- Returns the time of the server, which saves a round trip.
INSERT INTO layover.instances (name, seen_at) VALUES ($1::text, $2::bigint)
ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at
RETURNING (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint

-- name: delete_instances
DELETE FROM layover.instances WHERE name = ANY($1::text[])

-- name: living_instances
SELECT name
FROM layover.instances
WHERE seen_at > (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint - $1::bigint
ORDER BY name

-- name: heartbeat_of_instance
SELECT seen_at FROM layover.instances WHERE name = $1::text

-- name: latest_heartbeat
SELECT max(seen_at) FROM layover.instances

-- name: server_time
SELECT (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint

-- name: notify
-- A hint may be lost, so it does not wait for the disk.
SELECT set_config('synchronous_commit', 'off', TRUE), pg_notify($1::text, $2::text)
