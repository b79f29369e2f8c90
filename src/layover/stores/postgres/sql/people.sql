-- name: find_people
SELECT "user", roles, body, changed_at
FROM layover.people
WHERE "user" = ANY($1::text[]) OR roles && $2::text[]
ORDER BY "user"

-- name: list_people
SELECT "user", roles, body, changed_at FROM layover.people WHERE "user" > $1::text ORDER BY "user" LIMIT $2::bigint

-- name: save_people
INSERT INTO layover.people ("user", roles, body, changed_at)
VALUES ($1::text, $2::text[], $3::bytea, $4::bigint)
ON CONFLICT ("user") DO UPDATE SET roles = excluded.roles, body = excluded.body, changed_at = excluded.changed_at

-- name: delete_person
DELETE FROM layover.people WHERE "user" = $1::text RETURNING TRUE
