INSERT INTO replies (scope, key, fingerprint, until, status, body)
VALUES (:scope, :key, :fingerprint, :until, :status, :body)
ON CONFLICT (scope, key) DO UPDATE
SET until = excluded.until, status = excluded.status, body = excluded.body
WHERE replies.status = 0 AND replies.fingerprint = excluded.fingerprint
