INSERT INTO layover.events (execution_id, era, seq, at, count, body)
SELECT execution_id, era, seq, at, count, body
FROM unnest($1::uuid[], $2::integer[], $3::integer[], $4::bigint[], $5::integer[], $6::bytea[])
    AS given (execution_id, era, seq, at, count, body)
