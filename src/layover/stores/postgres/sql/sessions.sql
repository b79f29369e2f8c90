-- Sessions of browsers, and links that open one.

-- name: insert_sessions
INSERT INTO layover.sessions (id, hash, kind, "user", roles, created_at, expires_at, scopes, opened_by, key_id)
SELECT id, hash, kind, "user", roles, created_at, expires_at, scopes, opened_by, key_id
FROM unnest(
    $1::text[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::text[],
    $10::text[]
) AS given (id, hash, kind, "user", roles, created_at, expires_at, scopes, opened_by, key_id)

-- name: delete_surplus_sessions
DELETE FROM layover.sessions
WHERE id IN (
    SELECT id
    FROM layover.sessions
    WHERE "user" = $1::text AND kind = $2::text
    ORDER BY created_at DESC, id DESC
    OFFSET $3::bigint
)

-- name: session_by_hash
SELECT
    s.id, s.hash, s.kind, s."user", s.roles, s.created_at, s.expires_at, s.scopes, s.opened_by, s.key_id
FROM layover.sessions AS s
LEFT JOIN layover.keys AS k ON k.id = s.key_id
WHERE
    s.hash = $1::bytea
    AND s.expires_at > $2::bigint
    AND (
        s.key_id = ''
        OR (
            k.id IS NOT NULL
            AND (k.expires_at IS NULL OR k.expires_at > $2)
            AND (k.ended_at IS NULL OR k.ended_at > $2)
        )
    )

-- name: end_session
DELETE FROM layover.sessions WHERE hash = $1::bytea AND kind = $2::text RETURNING TRUE

-- name: list_sessions
SELECT id, hash, kind, "user", roles, created_at, expires_at, scopes, opened_by, key_id
FROM layover.sessions
WHERE kind = $1::text AND id > $2::text
ORDER BY id
LIMIT $3::bigint

-- name: list_open_sessions
SELECT
    s.id, s.hash, s.kind, s."user", s.roles, s.created_at, s.expires_at, s.scopes, s.opened_by, s.key_id
FROM layover.sessions AS s
LEFT JOIN layover.keys AS k ON k.id = s.key_id
WHERE
    s.kind = 'session'
    AND s.id > $2::text
    AND s.expires_at > $1::bigint
    AND (
        s.key_id = ''
        OR (
            k.id IS NOT NULL
            AND (k.expires_at IS NULL OR k.expires_at > $1)
            AND (k.ended_at IS NULL OR k.ended_at > $1)
        )
    )
ORDER BY s.id
LIMIT $3::bigint

-- name: list_sessions_of_user
-- A user has few sessions at once, so that sorting them costs little; `|| ''` keeps the planner from reading everybody's by id.
SELECT
    s.id, s.hash, s.kind, s."user", s.roles, s.created_at, s.expires_at, s.scopes, s.opened_by, s.key_id
FROM layover.sessions AS s
LEFT JOIN layover.keys AS k ON k.id = s.key_id
WHERE
    s."user" = $1::text
    AND s.kind = 'session'
    AND s.id || '' > $3::text
    AND s.expires_at > $2::bigint
    AND (
        s.key_id = ''
        OR (
            k.id IS NOT NULL
            AND (k.expires_at IS NULL OR k.expires_at > $2)
            AND (k.ended_at IS NULL OR k.ended_at > $2)
        )
    )
ORDER BY s.id || ''
LIMIT $4::bigint

-- name: delete_expired_sessions
WITH old AS MATERIALIZED (
    SELECT id
    FROM layover.sessions
    WHERE expires_at <= $1::bigint
    ORDER BY expires_at, id
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM layover.sessions AS s USING old AS o WHERE s.id = o.id RETURNING 1
)
SELECT count(*) FROM gone
