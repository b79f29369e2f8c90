-- name: write_audit_entries
-- An act of several parts is written once.
INSERT INTO audit (id, at, user, act, target, execution_id, credential, request_id, details)
VALUES (:id, :at, :user, :act, :target, nullif(:execution_id, ''), :credential, :request_id, :details)
ON CONFLICT DO NOTHING

-- name: list_audit_entries
SELECT id, at, user, act, target, execution_id, credential, request_id, details
FROM audit
WHERE (at, id) < (:after_at, :after_id)
    AND (:act IS NULL OR act = :act)
    AND (:target IS NULL OR target = :target)
ORDER BY at DESC, id DESC
LIMIT :limit

-- name: list_audit_entries_of_execution
SELECT id, at, user, act, target, execution_id, credential, request_id, details
FROM audit
WHERE execution_id = :execution_id
    AND (at, id) < (:after_at, :after_id)
    AND (:user IS NULL OR user = :user)
    AND (:act IS NULL OR act = :act)
    AND (:target IS NULL OR target = :target)
ORDER BY at DESC, id DESC
LIMIT :limit

-- name: list_audit_entries_of_user
SELECT id, at, user, act, target, execution_id, credential, request_id, details
FROM audit
WHERE user = :user
    AND (at, id) < (:after_at, :after_id)
    AND (:act IS NULL OR act = :act)
    AND (:target IS NULL OR target = :target)
ORDER BY at DESC, id DESC
LIMIT :limit

-- name: delete_old_audit_entries
DELETE FROM audit
WHERE (at, id) IN (SELECT at, id FROM audit WHERE at < :before ORDER BY at, id LIMIT :most)
