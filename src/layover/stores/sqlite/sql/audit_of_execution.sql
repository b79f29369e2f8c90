SELECT id, at, user, act, target, execution_id, credential, request_id, details
FROM audit
WHERE execution_id = :execution_id
    AND (at, id) < (:after_at, :after_id)
    AND (:user IS NULL OR user = :user)
    AND (:act IS NULL OR act = :act)
    AND (:target IS NULL OR target = :target)
ORDER BY at DESC, id DESC
LIMIT :limit
