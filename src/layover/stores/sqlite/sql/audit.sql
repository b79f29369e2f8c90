-- name: write_audit_entries
-- An act of several parts is written once.
INSERT INTO audit (
    id, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document
)
VALUES (
    :id, :at, :user, :act, :target, nullif(:execution_id, ''), :credential, :request_id, :details,
    nullif(:entry, x''), nullif(:salt, x''), nullif(:leaf, x''), nullif(:document_hash, x'')
)
ON CONFLICT DO NOTHING

-- name: write_audit_documents
INSERT INTO audit_documents (hash, body) VALUES (:hash, :body) ON CONFLICT DO NOTHING

-- name: audit_document_by_hash
SELECT body FROM audit_documents WHERE hash = :hash

-- name: list_audit_entries
SELECT id, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document,
    seal
FROM audit
WHERE (at, id) < (:after_at, :after_id)
    AND (:act IS NULL OR act = :act)
    AND (:target IS NULL OR target = :target)
ORDER BY at DESC, id DESC
LIMIT :limit

-- name: list_audit_entries_of_execution
SELECT id, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document,
    seal
FROM audit
WHERE execution_id = :execution_id
    AND (at, id) < (:after_at, :after_id)
    AND (:user IS NULL OR user = :user)
    AND (:act IS NULL OR act = :act)
    AND (:target IS NULL OR target = :target)
ORDER BY at DESC, id DESC
LIMIT :limit

-- name: list_audit_entries_of_user
SELECT id, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document,
    seal
FROM audit
WHERE user = :user
    AND (at, id) < (:after_at, :after_id)
    AND (:act IS NULL OR act = :act)
    AND (:target IS NULL OR target = :target)
ORDER BY at DESC, id DESC
LIMIT :limit

-- name: list_audit_entries_of_target
-- Of acts that were done to no execution.
SELECT id, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document,
    seal
FROM audit
WHERE execution_id IS NULL AND target = :target
    AND (at, id) < (:after_at, :after_id)
    AND (:user IS NULL OR user = :user)
    AND (:act IS NULL OR act = :act)
ORDER BY at DESC, id DESC
LIMIT :limit
