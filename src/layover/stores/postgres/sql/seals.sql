-- name: unsealed_entry_exists
SELECT EXISTS (SELECT 1 FROM layover.audit WHERE seal IS NULL)

-- name: lock_unsealed_leaves
-- A rival waits for the locks of these rows, and finds those that were sealed meanwhile no more.
SELECT at, id, leaf
FROM layover.audit
WHERE seal IS NULL
ORDER BY at, id
LIMIT $1::bigint
FOR UPDATE

-- name: entries_to_seal
SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry, a.salt,
    a.leaf, a.document, a.seal
FROM unnest($1::bigint[], $2::text[]) AS given (at, id)
INNER JOIN layover.audit AS a ON a.at = given.at AND a.id = given.id

-- name: complete_audit_entries
UPDATE layover.audit AS a
SET entry = given.entry, salt = given.salt, leaf = given.leaf
FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::bytea[], $5::bytea[]) AS given (at, id, entry, salt, leaf)
WHERE a.at = given.at AND a.id = given.id

-- name: set_seals
-- The rows are locked: they have no seal yet.
WITH sealed AS (
    UPDATE layover.audit AS a
    SET seal = $1::bigint
    FROM unnest($2::bigint[], $3::text[]) AS given (at, id)
    WHERE a.at = given.at AND a.id = given.id
    RETURNING 1
)
SELECT count(*) FROM sealed

-- name: insert_seals
INSERT INTO layover.audit_seals (n, at, first, count, leaves, root, prev, head, key_id, signature)
SELECT n, at, first, count, leaves, root, prev, head, key_id, signature
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[],
    $9::text[], $10::bytea[]
) AS given (n, at, first, count, leaves, root, prev, head, key_id, signature)

-- name: last_seal
SELECT n, at, first, count, leaves, root, prev, head, key_id, signature
FROM layover.audit_seals
ORDER BY n DESC
LIMIT 1

-- name: seal_by_number
SELECT n, at, first, count, leaves, root, prev, head, key_id, signature
FROM layover.audit_seals
WHERE n = $1::bigint

-- name: seals_after
SELECT n, at, first, count, leaves, root, prev, head, key_id, signature
FROM layover.audit_seals
WHERE n > $1::bigint
ORDER BY n
LIMIT $2::bigint

-- name: last_seal_before
SELECT n FROM layover.audit_seals WHERE at < $1::bigint ORDER BY at DESC, n DESC LIMIT 1

-- name: insert_seal_keys
INSERT INTO layover.audit_keys (id, public, first_seal, since)
SELECT id, public, first_seal, since
FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[]) AS given (id, public, first_seal, since)

-- name: list_seal_keys
SELECT id, public, first_seal, since FROM layover.audit_keys ORDER BY first_seal

-- name: entries_of_seal
SELECT id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, seal
FROM layover.audit
WHERE seal = $4::bigint AND (at, id) > ($1::bigint, $2::text)
ORDER BY at, id
LIMIT $3::bigint

-- name: unsealed_entries
SELECT id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, seal
FROM layover.audit
WHERE seal IS NULL AND (at, id) > ($1::bigint, $2::text)
ORDER BY at, id
LIMIT $3::bigint

-- name: seals_of_entries
SELECT
    (SELECT seal FROM layover.audit WHERE seal IS NOT NULL ORDER BY seal LIMIT 1),
    (SELECT seal FROM layover.audit WHERE seal IS NOT NULL ORDER BY seal DESC LIMIT 1)

-- name: delete_sealed_entries
WITH old AS MATERIALIZED (
    SELECT at, id
    FROM layover.audit
    WHERE seal <= $1::bigint
    ORDER BY seal, at, id
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
)
DELETE FROM layover.audit AS a
USING old AS o
WHERE a.at = o.at AND a.id = o.id
RETURNING a.document

-- name: delete_audit_documents
DELETE FROM layover.audit_documents AS d
WHERE d.hash = ANY($1::bytea[]) AND NOT EXISTS (SELECT 1 FROM layover.audit AS a WHERE a.document = d.hash)

-- name: audit_documents_after
SELECT hash, body FROM layover.audit_documents WHERE hash > $1::bytea ORDER BY hash LIMIT $2::bigint

-- name: insert_audit_documents
INSERT INTO layover.audit_documents (hash, body)
SELECT hash, body FROM unnest($1::bytea[], $2::bytea[]) AS given (hash, body)
