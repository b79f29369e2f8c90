INSERT INTO replies (scope, key, fingerprint, until, status, body)
VALUES (:scope, :key, :fingerprint, :until, :status, :body)
ON CONFLICT (scope, key) DO UPDATE
SET fingerprint = excluded.fingerprint, until = excluded.until, status = excluded.status, body = excluded.body
WHERE replies.until <= :now AND (replies.status <> 0 OR replies.fingerprint = excluded.fingerprint)
