SELECT id, name, key, at, data
FROM layover.signals
WHERE name = $1::text AND key = $2::text AND at >= $3::bigint
ORDER BY at, id
