-- name: write_audit_entries
-- An act of several parts is written once.
INSERT INTO layover.audit (id, at, "user", act, target, execution_id, credential, request_id, details)
SELECT id, at, "user", act, target, nullif(execution_id, ''), credential, request_id, details
FROM unnest(
    $1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[]
) AS given (id, at, "user", act, target, execution_id, credential, request_id, details)
ON CONFLICT DO NOTHING

-- name: list_audit_entries
SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details
FROM layover.audit AS a
CROSS JOIN LATERAL (
    SELECT
    WHERE ($4::text IS NULL OR a.act = $4)
        AND ($5::text IS NULL OR a.target = $5)
    OFFSET 0 -- checked row by row in the order of the index, also before the table has statistics
) AS wanted
WHERE (a.at, a.id) < ($1::bigint, $2::text)
ORDER BY a.at DESC, a.id DESC
LIMIT $3::bigint

-- name: list_audit_entries_of_execution
SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details
FROM layover.audit AS a
CROSS JOIN LATERAL (
    SELECT
    WHERE ($4::text IS NULL OR a.act = $4)
        AND ($5::text IS NULL OR a.target = $5)
        AND ($6::text IS NULL OR a."user" = $6)
    OFFSET 0 -- checked row by row in the order of the index, also before the table has statistics
) AS wanted
-- Compared and ordered by the whole index, for which no other will do: what was frequent when the server counted may be
-- rare by now.
WHERE (a.execution_id, a.at, a.id) < ($7::text, $1::bigint, $2::text) AND a.execution_id >= $7::text
ORDER BY a.execution_id DESC, a.at DESC, a.id DESC
LIMIT $3::bigint

-- name: list_audit_entries_of_user
SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details
FROM layover.audit AS a
CROSS JOIN LATERAL (
    SELECT
    WHERE ($4::text IS NULL OR a.act = $4)
        AND ($5::text IS NULL OR a.target = $5)
    OFFSET 0 -- checked row by row in the order of the index, also before the table has statistics
) AS wanted
-- Compared and ordered by the whole index, for which no other will do: what was frequent when the server counted may be
-- rare by now.
WHERE (a."user", a.at, a.id) < ($6::text, $1::bigint, $2::text) AND a."user" >= $6::text
ORDER BY a."user" DESC, a.at DESC, a.id DESC
LIMIT $3::bigint

-- name: delete_old_audit_entries
WITH old AS MATERIALIZED (
    SELECT at, id
    FROM layover.audit
    WHERE at < $1::bigint
    ORDER BY at, id
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM layover.audit AS a USING old AS o WHERE a.at = o.at AND a.id = o.id RETURNING 1
)
SELECT count(*) FROM gone
