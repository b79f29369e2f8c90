-- Replies to requests that a client may repeat.

-- name: begin_reply
-- Status 0 marks a request in progress. It is taken over once it has expired: the server that worked at it died.
INSERT INTO replies (scope, key, fingerprint, until, status, body)
VALUES (:scope, :key, :fingerprint, :until, :status, :body)
ON CONFLICT (scope, key) DO UPDATE
SET fingerprint = excluded.fingerprint, until = excluded.until, status = excluded.status, body = excluded.body
WHERE replies.until <= :now AND (replies.status <> 0 OR replies.fingerprint = excluded.fingerprint)

-- name: reply_by_key
SELECT scope, key, fingerprint, until, status, body FROM replies WHERE scope = :scope AND key = :key

-- name: end_reply
-- Stores the first reply only, and never over that of another request with the same key.
INSERT INTO replies (scope, key, fingerprint, until, status, body)
VALUES (:scope, :key, :fingerprint, :until, :status, :body)
ON CONFLICT (scope, key) DO UPDATE
SET until = excluded.until, status = excluded.status, body = excluded.body
WHERE replies.status = 0 AND replies.fingerprint = excluded.fingerprint

-- name: delete_unfinished_reply
DELETE FROM replies WHERE scope = :scope AND key = :key AND status = 0

-- name: delete_expired_replies
DELETE FROM replies
WHERE rowid IN (SELECT rowid FROM replies WHERE until <= :now ORDER BY until LIMIT :most)
