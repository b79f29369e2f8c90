WITH arrived AS MATERIALIZED (
    SELECT o.sender, o.destination, o.n
    FROM unnest($1::uuid[], $2::text[], $3::bigint[]) AS m (sender, destination, n)
    JOIN layover.outbox AS o ON o.sender = m.sender AND o.destination = m.destination AND o.n = m.n
    ORDER BY o.sender, o.destination, o.n
    FOR UPDATE OF o
)
DELETE FROM layover.outbox AS o
USING arrived AS a
WHERE o.sender = a.sender AND o.destination = a.destination AND o.n = a.n
