INSERT INTO layover.snapshots (execution_id, seq, body)
SELECT execution_id, seq, body FROM unnest($1::uuid[], $2::integer[], $3::bytea[]) AS given (execution_id, seq, body)
