-- name: insert_api_keys
-- Inserts nothing when the id or the hash exists, which is an error of the caller.
INSERT INTO keys (id, prefix, hash, name, user, roles, created_at, scopes, created_by, expires_at, ended_at)
VALUES (:id, :prefix, :hash, :name, :user, :roles, :created_at, :scopes, :created_by, :expires_at, :ended_at)
ON CONFLICT DO NOTHING

-- name: end_replaced_api_key
UPDATE keys SET ended_at = :ends_at WHERE id = :id AND ended_at IS NULL

-- name: end_api_key
UPDATE keys SET ended_at = :now WHERE id = :id AND (ended_at IS NULL OR ended_at > :now)

-- name: api_key_by_hash
SELECT id, prefix, hash, name, user, roles, created_at, scopes, created_by, expires_at, ended_at
FROM keys
WHERE hash = :hash

-- name: list_api_keys
SELECT id, prefix, hash, name, user, roles, created_at, scopes, created_by, expires_at, ended_at
FROM keys
WHERE id > :after
ORDER BY id
LIMIT :most
