-- name: take_lock
-- Changes no row while another holder has the lock.
INSERT INTO locks (name, holder, until) VALUES (:name, :holder, :until)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE locks.holder = excluded.holder OR locks.until <= :now

-- name: release_lock
DELETE FROM locks WHERE name = :name AND holder = :holder
