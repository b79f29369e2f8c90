INSERT INTO layover.replies AS replies (scope, key, fingerprint, until, status, body)
VALUES ($1::text, $2::text, $3::bytea, $4::bigint, $5::integer, $6::bytea)
ON CONFLICT (scope, key) DO UPDATE
SET until = excluded.until, status = excluded.status, body = excluded.body
WHERE replies.status = 0 AND replies.fingerprint = excluded.fingerprint
