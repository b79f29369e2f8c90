SELECT execution_id, hash, point
FROM layover.tokens
WHERE execution_id = ANY ($1::uuid[])
ORDER BY execution_id, hash
