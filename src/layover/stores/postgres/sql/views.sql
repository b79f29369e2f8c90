-- name: list_views
SELECT "user", name, body, changed_at FROM layover.saved_views WHERE "user" = $1::text ORDER BY name

-- name: read_views
SELECT "user", name, body, changed_at
FROM layover.saved_views
WHERE ("user", name) > ($1::text, $2::text)
ORDER BY "user", name
LIMIT $3::bigint

-- name: lock_views
-- Two views that a user saves at once are counted one after the other.
SELECT pg_advisory_xact_lock(hashtextextended('layover.views:' || $1::text, 0))

-- name: save_view
INSERT INTO layover.saved_views ("user", name, body, changed_at)
SELECT $1::text, $2::text, $3::bytea, $4::bigint
WHERE
    EXISTS (SELECT 1 FROM layover.saved_views WHERE "user" = $1::text AND name = $2::text)
    OR (SELECT count(*) FROM layover.saved_views WHERE "user" = $1::text) < $5::bigint
ON CONFLICT ("user", name) DO UPDATE SET body = excluded.body, changed_at = excluded.changed_at
RETURNING TRUE

-- name: copy_view
INSERT INTO layover.saved_views ("user", name, body, changed_at)
VALUES ($1::text, $2::text, $3::bytea, $4::bigint)

-- name: delete_view
DELETE FROM layover.saved_views WHERE "user" = $1::text AND name = $2::text RETURNING TRUE
