-- name: insert_versions
INSERT INTO versions (workflow, number, hash, document, created_at)
VALUES (:workflow, :number, :hash, :document, :created_at)

-- name: version_by_hash
SELECT workflow, number, hash, document, created_at FROM versions WHERE hash = :hash ORDER BY number, id LIMIT 1

-- name: latest_version
SELECT workflow, number, hash, document, created_at FROM versions WHERE workflow = :workflow ORDER BY number DESC LIMIT 1

-- name: latest_versions
SELECT workflow, max(number), hash, document, created_at FROM versions GROUP BY workflow ORDER BY workflow

-- name: versions_of_workflow
SELECT workflow, number, hash, document, created_at FROM versions WHERE workflow = :workflow ORDER BY number

-- name: latest_versions_after
-- Jumps from one workflow to the next in the index, since a workflow may have very many versions.
WITH RECURSIVE found (workflow) AS (
    SELECT (SELECT v.workflow FROM versions AS v WHERE v.workflow > :after ORDER BY v.workflow LIMIT 1)
    UNION ALL
    SELECT (SELECT v.workflow FROM versions AS v WHERE v.workflow > found.workflow ORDER BY v.workflow LIMIT 1)
    FROM found
    WHERE found.workflow IS NOT NULL
    LIMIT :limit
)
SELECT v.workflow, v.number, v.hash, v.document, v.created_at
FROM found
CROSS JOIN versions AS v
WHERE v.workflow = found.workflow
    AND v.number = (SELECT max(n.number) FROM versions AS n WHERE n.workflow = found.workflow)

-- name: save_text
INSERT INTO definition_texts (workflow, number, media_type, body, changed_at)
VALUES (:workflow, :number, :media_type, :body, :changed_at)
ON CONFLICT (workflow, number) DO UPDATE
SET media_type = excluded.media_type, body = excluded.body, changed_at = excluded.changed_at
WHERE definition_texts.body <> excluded.body OR definition_texts.media_type <> excluded.media_type

-- name: find_text
SELECT workflow, number, media_type, body, changed_at
FROM definition_texts
WHERE workflow = :workflow AND number = :number

-- name: read_texts
SELECT workflow, number, media_type, body, changed_at
FROM definition_texts
WHERE (workflow, number) > (:workflow, :number)
ORDER BY workflow, number
LIMIT :limit

-- name: copy_texts
INSERT INTO definition_texts (workflow, number, media_type, body, changed_at)
VALUES (:workflow, :number, :media_type, :body, :changed_at)
ON CONFLICT DO NOTHING

-- name: list_hashes
SELECT hash FROM versions

-- name: hashes_of_workflow
SELECT hash FROM versions WHERE workflow = :workflow
