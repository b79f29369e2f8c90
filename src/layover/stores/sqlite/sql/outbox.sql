-- name: due_messages
-- By their own time; whether an earlier message to the same destination holds one up is checked per row.
SELECT due_at, sender, n, destination FROM outbox WHERE due_at <= :now ORDER BY due_at, sender, n, destination

-- name: latest_due_at_between
SELECT max(due_at) FROM outbox WHERE sender = :sender AND destination = :destination AND n > :after AND n <= :n

-- name: message_by_key
SELECT sender, n, destination, kind, body, due_at
FROM outbox
WHERE sender = :sender AND destination = :destination AND n = :n

-- name: next_message_due_at
SELECT min(due_at) FROM outbox WHERE due_at > :now

-- name: messages_of_sender
SELECT sender, n, destination, kind, body, due_at FROM outbox WHERE sender = :sender

-- name: insert_messages
-- Inserts nothing when the message exists, which is an error of the caller.
INSERT INTO outbox (sender, n, destination, kind, body, due_at)
VALUES (:sender, :n, :destination, :kind, :body, :due_at)
ON CONFLICT DO NOTHING

-- name: postpone_message
UPDATE outbox SET due_at = :due_at WHERE sender = :sender AND destination = :destination AND n = :n

-- name: delete_messages
DELETE FROM outbox WHERE sender = :sender AND destination = :destination AND n = :n

-- name: take_message
DELETE FROM outbox
WHERE sender = :sender AND destination = :destination AND n = :n
    AND NOT EXISTS (
        SELECT 1 FROM outbox AS o WHERE o.sender = :sender AND o.destination = :destination AND o.n < :n
    )

-- name: point_of_token
SELECT execution_id, point FROM tokens WHERE hash = :hash

-- name: insert_tokens
-- Inserts nothing when the token exists, which is an error of the caller.
INSERT INTO tokens (hash, execution_id, point) VALUES (:hash, :id, :point) ON CONFLICT DO NOTHING
