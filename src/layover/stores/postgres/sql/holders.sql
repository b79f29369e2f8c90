SELECT execution_id
FROM layover.places
WHERE name = $1::text AND held_at IS NOT NULL
ORDER BY held_at, execution_id
LIMIT $2::integer
