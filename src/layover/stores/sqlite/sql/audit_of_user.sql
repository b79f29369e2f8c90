SELECT id, at, user, act, target, execution_id, credential, request_id, details
FROM audit
WHERE user = :user
    AND (at, id) < (:after_at, :after_id)
    AND (:act IS NULL OR act = :act)
    AND (:target IS NULL OR target = :target)
ORDER BY at DESC, id DESC
LIMIT :limit
