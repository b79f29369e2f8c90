-- Replies to requests that a client may repeat.

-- name: begin_reply
-- Status 0 marks a request in progress. It is taken over once it has expired: the server that worked at it died.
-- A row that another instance wrote while this statement waited for it is not visible here: then both results are
-- empty, and the caller tries again.
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

-- name: end_reply
-- Stores the first reply only, and never over that of another request with the same key.
INSERT INTO layover.replies AS replies (scope, key, fingerprint, until, status, body)
VALUES ($1::text, $2::text, $3::bytea, $4::bigint, $5::integer, $6::bytea)
ON CONFLICT (scope, key) DO UPDATE
SET until = excluded.until, status = excluded.status, body = excluded.body
WHERE replies.status = 0 AND replies.fingerprint = excluded.fingerprint

-- name: delete_unfinished_reply
DELETE FROM layover.replies WHERE scope = $1::text AND key = $2::text AND status = 0

-- name: delete_expired_replies
WITH old AS MATERIALIZED (
    SELECT scope, key
    FROM layover.replies
    WHERE until <= $1::bigint
    ORDER BY until
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM layover.replies AS r USING old AS o WHERE r.scope = o.scope AND r.key = o.key RETURNING 1
)
SELECT count(*) FROM gone
