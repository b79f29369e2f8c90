-- Of so many candidates, those with the first turns; besides, how many candidates there were, and which was the last.
WITH candidates AS MATERIALIZED (
    SELECT due_at, sender, n, destination
    FROM layover.outbox
    WHERE due_at <= $1::bigint
        AND (due_at, sender, n, destination) > ($4::bigint, $5::uuid, $6::bigint, $7::text)
    ORDER BY due_at, sender, n, destination
    LIMIT $3::bigint
),
ways AS MATERIALIZED (
    SELECT sender, destination, max(n) AS n FROM candidates GROUP BY sender, destination
),
last AS MATERIALIZED (
    SELECT * FROM candidates ORDER BY due_at DESC, sender DESC, n DESC, destination DESC LIMIT 1
),
turns AS MATERIALIZED (
    SELECT
        o.due_at, o.sender, o.n, o.destination,
        max(o.due_at) OVER (PARTITION BY o.sender, o.destination ORDER BY o.n) AS turn
    FROM ways AS w
    JOIN layover.outbox AS o ON o.sender = w.sender AND o.destination = w.destination AND o.n <= w.n
),
due AS MATERIALIZED (
    SELECT t.turn, t.sender, t.n, t.destination
    FROM turns AS t
    JOIN last AS l ON (t.due_at, t.sender, t.n, t.destination) <= (l.due_at, l.sender, l.n, l.destination)
    WHERE t.turn <= $1 AND (t.due_at, t.sender, t.n, t.destination) > ($4, $5, $6, $7)
    ORDER BY t.turn, t.sender, t.n, t.destination
    LIMIT $2::bigint
)
SELECT
    (SELECT min(due_at) FROM layover.outbox WHERE due_at > $1) AS next_due,
    (SELECT min(at) FROM layover.signals WHERE NOT dispatched) AS undispatched_since,
    (SELECT count(*) FROM candidates) AS candidates,
    l.due_at AS last_due_at, l.sender AS last_sender, l.n AS last_n, l.destination AS last_destination,
    m.turn, m.sender, m.n, m.destination, m.kind, m.body, m.due_at
FROM (SELECT 1) AS always
LEFT JOIN last AS l ON TRUE
LEFT JOIN (
    SELECT d.turn, o.sender, o.n, o.destination, o.kind, o.body, o.due_at
    FROM due AS d
    JOIN layover.outbox AS o ON o.sender = d.sender AND o.destination = d.destination AND o.n = d.n
) AS m ON TRUE
