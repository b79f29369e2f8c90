SELECT id, prefix, hash, name, "user", roles, created_at, scopes, created_by, expires_at, ended_at
FROM layover.keys
WHERE hash = $1::bytea
