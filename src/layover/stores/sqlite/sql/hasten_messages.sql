UPDATE outbox SET due_at = :due_at
WHERE sender = :sender AND destination = :destination AND due_at > :due_at
