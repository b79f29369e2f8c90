INSERT INTO layover.audit (id, at, "user", act, target, execution_id, credential, request_id, details)
SELECT id, at, "user", act, target, nullif(execution_id, ''), credential, request_id, details
FROM unnest(
    $1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[]
) AS given (id, at, "user", act, target, execution_id, credential, request_id, details)
