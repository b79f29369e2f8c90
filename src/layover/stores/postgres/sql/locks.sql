-- name: take_lock
-- No row while another holder has the lock.
INSERT INTO layover.locks AS l (name, holder, until) VALUES ($1::text, $2::text, $4::bigint)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE l.holder = excluded.holder OR l.until <= $3::bigint
RETURNING TRUE

-- name: release_lock
DELETE FROM layover.locks WHERE name = $1::text AND holder = $2::text
