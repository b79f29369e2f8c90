SELECT id, prefix, hash, name, user, roles, created_at, scopes, created_by, expires_at, ended_at
FROM keys
WHERE id > :after
ORDER BY id
LIMIT :most
