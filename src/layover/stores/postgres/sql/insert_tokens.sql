INSERT INTO layover.tokens (execution_id, hash, point)
SELECT execution_id, hash, point FROM unnest($1::uuid[], $2::bytea[], $3::text[]) AS given (execution_id, hash, point)
