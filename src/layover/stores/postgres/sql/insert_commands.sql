INSERT INTO layover.commands (execution_id, n, at, kind, body, source, source_n)
SELECT execution_id, n, at, kind, body, source, source_n
FROM unnest($1::uuid[], $2::integer[], $3::bigint[], $4::text[], $5::bytea[], $6::text[], $7::integer[])
    AS given (execution_id, n, at, kind, body, source, source_n)
