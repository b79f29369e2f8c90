WITH candidates AS MATERIALIZED (
    SELECT due_at, sender, n, destination
    FROM layover.outbox
    WHERE due_at <= $1::bigint
        AND (due_at, sender, n, destination) > ($3::bigint, $4::uuid, $5::integer, $6::text)
    ORDER BY due_at, sender, n, destination
    LIMIT $2::bigint
),
ways AS MATERIALIZED (
    SELECT sender, destination, max(n) AS n FROM candidates GROUP BY sender, destination
),
turns AS (
    SELECT
        o.due_at, o.sender, o.n, o.destination, o.kind, o.body,
        max(o.due_at) OVER (PARTITION BY o.sender, o.destination ORDER BY o.n) AS turn
    FROM ways AS w
    JOIN layover.outbox AS o ON o.sender = w.sender AND o.destination = w.destination AND o.n <= w.n
)
SELECT
    (SELECT min(due_at) FROM layover.outbox WHERE due_at > $1) AS next_due,
    (SELECT min(at) FROM layover.signals WHERE NOT dispatched) AS undispatched_since,
    t.turn, t.sender, t.n, t.destination, t.kind, CASE WHEN t.turn <= $1 THEN t.body END AS body, t.due_at
FROM (SELECT 1) AS always
LEFT JOIN (
    candidates AS c JOIN turns AS t ON t.sender = c.sender AND t.destination = c.destination AND t.n = c.n
) ON TRUE
ORDER BY t.due_at, t.sender, t.n, t.destination
