SELECT execution_id
FROM layover.heads
WHERE execution_id = ANY($1::uuid[]) AND status IN ('completed', 'failed', 'cancelled')
ORDER BY execution_id
FOR UPDATE
