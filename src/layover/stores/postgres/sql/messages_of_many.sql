SELECT sender, n, destination, kind, body, due_at
FROM layover.outbox
WHERE sender = ANY ($1::uuid[])
ORDER BY sender, n, destination
