SELECT sender, n, destination, kind, body, due_at
FROM outbox
WHERE sender = :sender AND destination = :destination AND n = :n
