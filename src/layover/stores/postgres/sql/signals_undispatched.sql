SELECT id, name, key, at, data
FROM layover.signals
WHERE NOT dispatched AND at < $1::bigint
ORDER BY at, id
LIMIT $2::bigint
