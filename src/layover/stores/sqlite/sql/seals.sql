-- name: unsealed_leaves
SELECT at, id, leaf FROM audit WHERE seal IS NULL ORDER BY at, id LIMIT :most

-- name: unsealed_entry_exists
SELECT EXISTS (SELECT 1 FROM audit WHERE seal IS NULL)

-- name: entry_to_seal
SELECT id, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, seal
FROM audit
WHERE at = :at AND id = :id

-- name: complete_audit_entries
UPDATE audit SET entry = :entry, salt = :salt, leaf = :leaf WHERE at = :at AND id = :id

-- name: set_seals
-- The writer is alone: what waits now is what was read.
UPDATE audit SET seal = :n WHERE seal IS NULL AND (at, id) <= (:at, :id)

-- name: insert_seals
INSERT INTO audit_seals (n, at, first, count, leaves, root, prev, head, key_id, signature)
VALUES (:n, :at, :first, :count, :leaves, :root, :prev, :head, :key_id, :signature)

-- name: last_seal
SELECT n, at, first, count, leaves, root, prev, head, key_id, signature FROM audit_seals ORDER BY n DESC LIMIT 1

-- name: seal_by_number
SELECT n, at, first, count, leaves, root, prev, head, key_id, signature FROM audit_seals WHERE n = :n

-- name: seals_after
SELECT n, at, first, count, leaves, root, prev, head, key_id, signature
FROM audit_seals
WHERE n > :after
ORDER BY n
LIMIT :most

-- name: last_seal_before
SELECT n FROM audit_seals WHERE at < :moment ORDER BY at DESC, n DESC LIMIT 1

-- name: insert_seal_keys
INSERT INTO audit_keys (id, public, first_seal, since) VALUES (:id, :public, :first_seal, :since)

-- name: list_seal_keys
SELECT id, public, first_seal, since FROM audit_keys ORDER BY first_seal

-- name: entries_of_seal
SELECT id, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, seal
FROM audit
WHERE seal = :n AND (at, id) > (:after_at, :after_id)
ORDER BY at, id
LIMIT :most

-- name: unsealed_entries
SELECT id, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, seal
FROM audit
WHERE seal IS NULL AND (at, id) > (:after_at, :after_id)
ORDER BY at, id
LIMIT :most

-- name: lowest_seal_of_entries
SELECT seal FROM audit WHERE seal IS NOT NULL ORDER BY seal LIMIT 1

-- name: highest_seal_of_entries
SELECT seal FROM audit WHERE seal IS NOT NULL ORDER BY seal DESC LIMIT 1

-- name: sealed_entries_up_to
SELECT at, id, document FROM audit WHERE seal <= :through ORDER BY seal, at, id LIMIT :most

-- name: delete_audit_entry
DELETE FROM audit WHERE at = :at AND id = :id

-- name: delete_audit_document
DELETE FROM audit_documents
WHERE hash = :hash AND NOT EXISTS (SELECT 1 FROM audit WHERE document = :hash)

-- name: insert_audit_documents
INSERT INTO audit_documents (hash, body) VALUES (:hash, :body)

-- name: audit_documents_after
SELECT hash, body FROM audit_documents WHERE hash > :after ORDER BY hash LIMIT :most
