-- name: save_version
-- Returns no row when another instance took the number meanwhile; the caller tries again.
WITH newest AS MATERIALIZED (
    SELECT workflow, number, hash, document, created_at
    FROM layover.versions
    WHERE workflow = $1::text
    ORDER BY number DESC
    LIMIT 1
),
added AS (
    INSERT INTO layover.versions (workflow, number, hash, document, created_at)
    SELECT $1, coalesce((SELECT number FROM newest), 0) + 1, $2::text, $3::bytea, $4::bigint
    WHERE NOT EXISTS (SELECT 1 FROM newest WHERE hash = $2)
    ON CONFLICT (workflow, number) DO NOTHING
    RETURNING workflow, number, hash, document, created_at
),
saved AS MATERIALIZED (
    SELECT workflow, number, hash, document, created_at FROM added
    UNION ALL
    SELECT workflow, number, hash, document, created_at FROM newest WHERE hash = $2
),
revived AS (
    UPDATE layover.standings
    SET state = 'active', changed_at = $4, reason = '', changed_by = $5::text
    WHERE workflow = $1 AND state = 'deleted' AND EXISTS (SELECT 1 FROM saved)
    RETURNING 1
),
acts AS MATERIALIZED (
    SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry,
        a.salt, a.leaf, a.document, a.body
    FROM unnest(
        $6::text[], $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[],
        $14::bytea[], $15::bytea[], $16::bytea[], $17::bytea[], $18::bytea[], $19::bytea[]
    ) AS a (
        id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf,
        document, body
    )
    WHERE EXISTS (SELECT 1 FROM added) OR EXISTS (SELECT 1 FROM revived)
),
audited AS (
    INSERT INTO layover.audit (
        id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf, document
    )
    SELECT id, at, "user", act, target, nullif(execution_id, ''), credential, request_id, details, nullif(entry, ''),
        nullif(salt, ''), nullif(leaf, ''), nullif(document, '')
    FROM acts
    ORDER BY at, id -- in every group, so that no two groups wait for each other
    ON CONFLICT DO NOTHING
),
documented AS (
    INSERT INTO layover.audit_documents (hash, body)
    SELECT DISTINCT document, body FROM acts WHERE body IS NOT NULL ORDER BY document
    ON CONFLICT DO NOTHING
)
SELECT workflow, number, hash, document, created_at FROM saved

-- name: insert_versions
-- For database copies.
INSERT INTO layover.versions (workflow, number, hash, document, created_at)
SELECT workflow, number, hash, document, created_at
FROM unnest($1::text[], $2::integer[], $3::text[], $4::bytea[], $5::bigint[])
    AS given (workflow, number, hash, document, created_at)

-- name: version_by_hash
SELECT workflow, number, hash, document, created_at
FROM layover.versions
WHERE hash = $1::text
ORDER BY number, id
LIMIT 1

-- name: latest_version
SELECT workflow, number, hash, document, created_at
FROM layover.versions
WHERE workflow = $1::text
ORDER BY number DESC
LIMIT 1

-- name: latest_versions
-- Last workflow first: the order of the index.
SELECT DISTINCT ON (workflow) workflow, number, hash, document, created_at
FROM layover.versions
ORDER BY workflow DESC, number DESC

-- name: versions_of_workflow
SELECT workflow, number, hash, document, created_at FROM layover.versions WHERE workflow = $1::text ORDER BY number

-- name: latest_versions_after
-- Jumps from one workflow to the next in the index, since a workflow may have very many versions.
WITH RECURSIVE found (workflow, n) AS (
    (
        SELECT workflow, 1
        FROM layover.versions
        WHERE workflow > $1::text
        ORDER BY workflow
        LIMIT least($2::bigint, 1)
    )
    UNION ALL
    SELECT following.workflow, found.n + 1
    FROM found
    CROSS JOIN LATERAL (
        SELECT workflow FROM layover.versions WHERE workflow > found.workflow ORDER BY workflow LIMIT 1
    ) AS following
    WHERE found.n < $2::bigint
)
SELECT newest.workflow, newest.number, newest.hash, newest.document, newest.created_at
FROM found
CROSS JOIN LATERAL (
    SELECT workflow, number, hash, document, created_at
    FROM layover.versions
    WHERE workflow = found.workflow
    ORDER BY number DESC
    LIMIT 1
) AS newest
ORDER BY found.workflow

-- name: save_text
INSERT INTO layover.definition_texts (workflow, number, media_type, body, changed_at)
VALUES ($1::text, $2::integer, $3::text, $4::bytea, $5::bigint)
ON CONFLICT (workflow, number) DO UPDATE
SET media_type = excluded.media_type, body = excluded.body, changed_at = excluded.changed_at
WHERE definition_texts.body <> excluded.body OR definition_texts.media_type <> excluded.media_type

-- name: find_text
SELECT workflow, number, media_type, body, changed_at
FROM layover.definition_texts
WHERE workflow = $1::text AND number = $2::integer

-- name: read_texts
SELECT workflow, number, media_type, body, changed_at
FROM layover.definition_texts
WHERE (workflow, number) > ($1::text, $2::integer)
ORDER BY workflow, number
LIMIT $3::bigint

-- name: copy_texts
INSERT INTO layover.definition_texts (workflow, number, media_type, body, changed_at)
SELECT workflow, number, media_type, body, changed_at
FROM unnest($1::text[], $2::integer[], $3::text[], $4::bytea[], $5::bigint[])
    AS given (workflow, number, media_type, body, changed_at)

-- name: list_hashes
SELECT hash FROM layover.versions

-- name: hashes_of_workflow
SELECT hash FROM layover.versions WHERE workflow = $1::text
