SELECT sender, n, destination, kind, body, due_at
FROM layover.outbox
WHERE sender = $1::uuid
ORDER BY n, destination
