SELECT min(due_at) FROM outbox WHERE due_at > :now
