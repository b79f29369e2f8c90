SELECT execution_id, input::text
FROM layover.executions
WHERE execution_id = ANY ($1::uuid[]) AND input IS NOT NULL
