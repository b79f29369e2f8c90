-- name: add_link
-- None for a point that does not exist, or no longer: a purge waits for this row, or has deleted it.
INSERT INTO layover.links (hash, execution_id, point, "user", made_at, expires_at, revoked_at)
SELECT $1::bytea, p.execution_id, p.id, $3::text, $4::bigint, $5::bigint, $6::bigint
FROM (SELECT execution_id, id FROM layover.pause_points WHERE id = $2::text FOR KEY SHARE) AS p
ON CONFLICT (hash) DO NOTHING

-- name: link_by_hash
SELECT hash, execution_id, point, "user", made_at, expires_at, revoked_at FROM layover.links WHERE hash = $1::bytea

-- name: revoke_links
UPDATE layover.links
SET revoked_at = $3::bigint
WHERE execution_id = (SELECT p.execution_id FROM layover.pause_points AS p WHERE p.id = $1::text)
    AND point = $1
    AND ($2::text IS NULL OR "user" = $2)
    AND revoked_at IS NULL
RETURNING TRUE

-- name: links_of_executions
SELECT hash, execution_id, point, "user", made_at, expires_at, revoked_at
FROM layover.links
WHERE execution_id = ANY ($1::uuid[])
ORDER BY execution_id, hash

-- name: insert_links
-- For database copies.
INSERT INTO layover.links (hash, execution_id, point, "user", made_at, expires_at, revoked_at)
SELECT hash, execution_id, point, "user", made_at, expires_at, revoked_at
FROM unnest(
    $1::bytea[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[]
) AS given (hash, execution_id, point, "user", made_at, expires_at, revoked_at)
