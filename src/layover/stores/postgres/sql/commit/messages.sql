messages AS (
    INSERT INTO layover.outbox (sender, n, destination, kind, body, due_at)
    SELECT m.sender, m.n, m.destination, m.kind, m.body, m.due_at
    FROM unnest(
        :senders::uuid[], :message_n::bigint[], :destinations::text[], :message_kinds::text[],
        :message_bodies::bytea[], :due_at::bigint[]
    ) AS m (sender, n, destination, kind, body, due_at)
    WHERE (m.sender IN (SELECT execution_id FROM won)) IS TRUE
)
