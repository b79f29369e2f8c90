WITH locked AS MATERIALIZED (
    SELECT execution_id
    FROM layover.heads
    WHERE owner = ANY($1::text[]) AND wake_at > $2::bigint
    ORDER BY execution_id
    FOR NO KEY UPDATE
)
UPDATE layover.heads AS h
SET wake_at = $2
FROM locked AS l
WHERE h.execution_id = l.execution_id
