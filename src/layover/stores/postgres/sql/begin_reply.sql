-- What somebody else wrote while we waited for it is not seen here; then there is neither a note nor a reply, and the
-- next time it is.
WITH noted AS (
    INSERT INTO layover.replies AS replies (scope, key, fingerprint, until, status, body)
    VALUES ($1::text, $2::text, $3::bytea, $4::bigint, $5::integer, $6::bytea)
    ON CONFLICT (scope, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, until = excluded.until, status = excluded.status, body = excluded.body
    WHERE replies.until <= $7::bigint AND (replies.status <> 0 OR replies.fingerprint = excluded.fingerprint)
    RETURNING 1
),
known AS (
    SELECT scope, key, fingerprint, until, status, body
    FROM layover.replies
    WHERE scope = $1 AND key = $2 AND NOT (until <= $7 AND (status <> 0 OR fingerprint = $3))
)
SELECT
    EXISTS (SELECT 1 FROM noted) AS noted,
    known.scope, known.key, known.fingerprint, known.until, known.status, known.body
FROM (SELECT 1) AS one
LEFT JOIN known ON TRUE
