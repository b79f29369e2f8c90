-- Sessions of browsers, and links that open one.

-- name: insert_sessions
-- Inserts nothing when the id or the hash exists, which is an error of the caller.
INSERT INTO sessions (id, hash, kind, user, roles, created_at, expires_at, scopes, opened_by, key_id)
VALUES (:id, :hash, :kind, :user, :roles, :created_at, :expires_at, :scopes, :opened_by, :key_id)
ON CONFLICT DO NOTHING

-- name: delete_surplus_sessions
DELETE FROM sessions
WHERE id IN (
    SELECT id FROM sessions WHERE user = :user AND kind = :kind ORDER BY created_at DESC, id DESC LIMIT -1 OFFSET :most
)

-- name: session_by_hash
SELECT
    s.id, s.hash, s.kind, s.user, s.roles, s.created_at, s.expires_at, s.scopes, s.opened_by, s.key_id
FROM sessions AS s
LEFT JOIN keys AS k ON k.id = s.key_id
WHERE
    s.hash = :hash
    AND s.expires_at > :now
    AND (
        s.key_id = ''
        OR (
            k.id IS NOT NULL
            AND (k.expires_at IS NULL OR k.expires_at > :now)
            AND (k.ended_at IS NULL OR k.ended_at > :now)
        )
    )

-- name: end_session
DELETE FROM sessions WHERE hash = :hash AND kind = :kind

-- name: list_sessions
SELECT id, hash, kind, user, roles, created_at, expires_at, scopes, opened_by, key_id
FROM sessions
WHERE kind = :kind AND id > :after
ORDER BY id
LIMIT :most

-- name: list_open_sessions
SELECT
    s.id, s.hash, s.kind, s.user, s.roles, s.created_at, s.expires_at, s.scopes, s.opened_by, s.key_id
FROM sessions AS s
LEFT JOIN keys AS k ON k.id = s.key_id
WHERE
    s.kind = 'session'
    AND s.id > :after
    AND s.expires_at > :now
    AND (
        s.key_id = ''
        OR (
            k.id IS NOT NULL
            AND (k.expires_at IS NULL OR k.expires_at > :now)
            AND (k.ended_at IS NULL OR k.ended_at > :now)
        )
    )
ORDER BY s.id
LIMIT :most

-- name: list_sessions_of_user
-- A user has few sessions at once, so that sorting them costs little; `+` keeps the planner from reading everybody's by id.
SELECT
    s.id, s.hash, s.kind, s.user, s.roles, s.created_at, s.expires_at, s.scopes, s.opened_by, s.key_id
FROM sessions AS s
LEFT JOIN keys AS k ON k.id = s.key_id
WHERE
    s.user = :user
    AND s.kind = 'session'
    AND +s.id > :after
    AND s.expires_at > :now
    AND (
        s.key_id = ''
        OR (
            k.id IS NOT NULL
            AND (k.expires_at IS NULL OR k.expires_at > :now)
            AND (k.ended_at IS NULL OR k.ended_at > :now)
        )
    )
ORDER BY +s.id
LIMIT :most

-- name: delete_expired_sessions
DELETE FROM sessions
WHERE id IN (SELECT id FROM sessions WHERE expires_at <= :now ORDER BY expires_at, id LIMIT :most)
