SELECT id, name, key, at, data, dispatched
FROM layover.signals
WHERE id > $1::text
ORDER BY id
LIMIT $2::bigint
