-- name: write_audit_entries
-- An act of several parts is written once.
WITH given AS MATERIALIZED (
    SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry,
        a.salt, a.leaf, a.document, a.body
    FROM unnest(
        $1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[],
        $10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bytea[]
    ) AS a (
        id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, body
    )
),
documented AS (
    INSERT INTO layover.audit_documents (hash, body)
    SELECT DISTINCT document, body FROM given WHERE body IS NOT NULL ORDER BY document
    ON CONFLICT DO NOTHING
)
INSERT INTO layover.audit (
    id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf, document
)
SELECT id, at, "user", act, target, nullif(execution_id, ''), credential, request_id, details, nullif(entry, ''),
    nullif(salt, ''), nullif(leaf, ''), nullif(document, '')
FROM given
ON CONFLICT DO NOTHING

-- name: audit_document_by_hash
SELECT body FROM layover.audit_documents WHERE hash = $1::bytea

-- name: list_audit_entries
SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry, a.salt,
    a.leaf, a.document, a.seal
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
SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry, a.salt,
    a.leaf, a.document, a.seal
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
SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry, a.salt,
    a.leaf, a.document, a.seal
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

-- name: list_audit_entries_of_target
-- Of acts that were done to no execution.
SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry, a.salt,
    a.leaf, a.document, a.seal
FROM layover.audit AS a
CROSS JOIN LATERAL (
    SELECT
    WHERE ($4::text IS NULL OR a.act = $4)
        AND ($6::text IS NULL OR a."user" = $6)
    OFFSET 0 -- as above
) AS wanted
WHERE a.execution_id IS NULL
    AND (a.target, a.at, a.id) < ($5::text, $1::bigint, $2::text) AND a.target >= $5::text
ORDER BY a.target DESC, a.at DESC, a.id DESC
LIMIT $3::bigint
