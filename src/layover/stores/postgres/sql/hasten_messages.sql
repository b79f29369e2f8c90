UPDATE layover.outbox AS outbox
SET due_at = given.due_at
FROM unnest($1::uuid[], $2::bigint[]) AS given (sender, due_at)
WHERE
    outbox.sender = given.sender
    AND outbox.destination = given.sender::text
    AND outbox.due_at > given.due_at
