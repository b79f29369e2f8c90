INSERT INTO layover.pause_points (execution_id, id, workflow, kind, status, opened_at, closed_at, body, schema)
SELECT execution_id, id, workflow, kind, status, opened_at, closed_at, body, schema
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bytea[], $9::bytea[]
) AS given (execution_id, id, workflow, kind, status, opened_at, closed_at, body, schema)
