INSERT INTO layover.keys (
    id, prefix, hash, name, "user", roles, created_at, scopes, created_by, expires_at, ended_at
)
SELECT id, prefix, hash, name, "user", roles, created_at, scopes, created_by, expires_at, ended_at
FROM unnest(
    $1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[],
    $10::bigint[], $11::bigint[]
) AS given (id, prefix, hash, name, "user", roles, created_at, scopes, created_by, expires_at, ended_at)
