INSERT INTO layover.versions (workflow, number, hash, document, created_at)
SELECT workflow, number, hash, document, created_at
FROM unnest($1::text[], $2::integer[], $3::text[], $4::bytea[], $5::bigint[])
    AS given (workflow, number, hash, document, created_at)
