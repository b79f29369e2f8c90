SELECT due_at, sender, n, destination FROM outbox WHERE due_at <= :now ORDER BY due_at, sender, n, destination
