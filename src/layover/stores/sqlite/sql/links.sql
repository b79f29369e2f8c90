-- name: add_link
-- None for a point that does not exist, or no longer.
INSERT INTO links (hash, execution_id, point, user, made_at, expires_at, revoked_at)
SELECT :hash, execution_id, id, :user, :made_at, :expires_at, :revoked_at FROM pause_points WHERE id = :point
ON CONFLICT DO NOTHING

-- name: link_by_hash
SELECT hash, execution_id, point, user, made_at, expires_at, revoked_at FROM links WHERE hash = :hash

-- name: revoke_links
UPDATE links
SET revoked_at = :now
WHERE execution_id = (SELECT p.execution_id FROM pause_points AS p WHERE p.id = :point)
    AND point = :point
    AND (:user IS NULL OR user = :user)
    AND revoked_at IS NULL

-- name: links_of_execution
SELECT hash, execution_id, point, user, made_at, expires_at, revoked_at
FROM links
WHERE execution_id = :id
ORDER BY hash

-- name: insert_links
-- For database copies.
INSERT INTO links (hash, execution_id, point, user, made_at, expires_at, revoked_at)
VALUES (:hash, :execution_id, :point, :user, :made_at, :expires_at, :revoked_at)
