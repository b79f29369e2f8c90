messages AS (
    INSERT INTO layover.outbox (sender, n, destination, kind, body, due_at)
    SELECT m.sender, m.n, m.destination, m.kind, m.body, m.due_at
    FROM unnest(
        :senders::uuid[], :message_n::integer[], :destinations::text[], :message_kinds::text[],
        :message_bodies::bytea[], :due_at::bigint[]
    ) AS m (sender, n, destination, kind, body, due_at)
    JOIN won AS w ON w.execution_id = m.sender
)
