SELECT max(due_at) FROM outbox WHERE sender = :sender AND destination = :destination AND n > :after AND n <= :n
