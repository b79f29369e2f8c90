-- name: insert_api_keys
INSERT INTO layover.keys (
    id, prefix, hash, name, "user", roles, created_at, scopes, created_by, expires_at, ended_at
)
SELECT id, prefix, hash, name, "user", roles, created_at, scopes, created_by, expires_at, ended_at
FROM unnest(
    $1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[],
    $10::bigint[], $11::bigint[]
) AS given (id, prefix, hash, name, "user", roles, created_at, scopes, created_by, expires_at, ended_at)

-- name: end_replaced_api_key
UPDATE layover.keys SET ended_at = $2::bigint WHERE id = $1::text AND ended_at IS NULL RETURNING TRUE

-- name: end_api_key
UPDATE layover.keys SET ended_at = $2::bigint
WHERE id = $1::text AND (ended_at IS NULL OR ended_at > $2)
RETURNING TRUE

-- name: api_key_by_hash
SELECT id, prefix, hash, name, "user", roles, created_at, scopes, created_by, expires_at, ended_at
FROM layover.keys
WHERE hash = $1::bytea

-- name: list_api_keys
SELECT id, prefix, hash, name, "user", roles, created_at, scopes, created_by, expires_at, ended_at
FROM layover.keys
WHERE id > $1::text
ORDER BY id
LIMIT $2::bigint
