SELECT execution_id, point FROM layover.waits WHERE name = $1::text AND key = $2::text ORDER BY point
