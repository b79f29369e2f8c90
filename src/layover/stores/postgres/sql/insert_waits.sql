INSERT INTO layover.waits (execution_id, name, key, point)
SELECT execution_id, name, key, point
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS given (execution_id, name, key, point)
