INSERT INTO layover.outbox (sender, n, destination, kind, body, due_at)
SELECT sender, n, destination, kind, body, due_at
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::bigint[])
    AS given (sender, n, destination, kind, body, due_at)
