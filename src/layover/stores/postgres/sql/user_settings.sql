-- name: find_user_settings
SELECT "user", body, changed_at FROM layover.user_settings WHERE "user" = $1::text

-- name: read_user_settings
SELECT "user", body, changed_at FROM layover.user_settings WHERE "user" > $1::text ORDER BY "user" LIMIT $2::bigint

-- name: save_user_settings
INSERT INTO layover.user_settings ("user", body, changed_at)
VALUES ($1::text, $2::bytea, $3::bigint)
ON CONFLICT ("user") DO UPDATE SET body = excluded.body, changed_at = excluded.changed_at

-- name: copy_user_settings
INSERT INTO layover.user_settings ("user", body, changed_at) VALUES ($1::text, $2::bytea, $3::bigint)
