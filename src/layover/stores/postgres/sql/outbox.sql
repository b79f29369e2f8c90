-- name: due_messages
-- Of so many candidates, the messages whose turn comes first; also how many candidates there were, and the last one.
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

-- name: messages_of_sender
SELECT sender, n, destination, kind, body, due_at
FROM layover.outbox
WHERE sender = $1::uuid
ORDER BY n, destination

-- name: insert_messages
-- For database copies.
INSERT INTO layover.outbox (sender, n, destination, kind, body, due_at)
SELECT sender, n, destination, kind, body, due_at
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::bigint[])
    AS given (sender, n, destination, kind, body, due_at)

-- name: postpone_messages
-- Locks in the order of the key, as below.
WITH named AS MATERIALIZED (
    SELECT o.sender, o.destination, o.n, m.due_at
    FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[]) AS m (sender, destination, n, due_at)
    JOIN layover.outbox AS o ON o.sender = m.sender AND o.destination = m.destination AND o.n = m.n
    ORDER BY o.sender, o.destination, o.n
    FOR UPDATE OF o
)
UPDATE layover.outbox AS o
SET due_at = m.due_at
FROM named AS m
WHERE o.sender = m.sender AND o.destination = m.destination AND o.n = m.n

-- name: delete_messages
-- Locks in the order of the key, so that two instances cannot wait for each other.
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

-- name: point_of_token
SELECT execution_id, point FROM layover.tokens WHERE hash = $1::bytea

-- name: insert_tokens
-- For database copies.
INSERT INTO layover.tokens (execution_id, hash, point)
SELECT execution_id, hash, point FROM unnest($1::uuid[], $2::bytea[], $3::text[]) AS given (execution_id, hash, point)
