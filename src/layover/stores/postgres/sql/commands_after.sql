SELECT n, at, kind, body, source, source_n
FROM layover.commands
WHERE execution_id = $1::uuid AND n > $2::bigint
ORDER BY n
