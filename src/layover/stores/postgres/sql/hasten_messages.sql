-- In the order in which messages that have arrived are locked.
WITH found AS MATERIALIZED (
    SELECT outbox.sender, outbox.destination, outbox.n, given.due_at
    FROM unnest($1::uuid[], $2::bigint[]) AS given (sender, due_at)
    INNER JOIN layover.outbox AS outbox ON outbox.sender = given.sender AND outbox.destination = given.sender::text
    WHERE outbox.due_at > given.due_at
    ORDER BY outbox.sender, outbox.destination, outbox.n
    FOR NO KEY UPDATE OF outbox
)
UPDATE layover.outbox AS outbox
SET due_at = found.due_at
FROM found
WHERE outbox.sender = found.sender AND outbox.destination = found.destination AND outbox.n = found.n
