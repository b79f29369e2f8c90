-- name: enqueue_commands
-- Locks heads in the order of their ids and decides from the locked rows. A command of the same source that was
-- written while this statement waited for a lock is not visible here: then the index `commands_by_source` refuses the
-- whole statement, and the caller runs it again.
WITH given AS MATERIALIZED (
    SELECT
        execution_id, kind, body, source, source_n, place,
        min(place) OVER (
            PARTITION BY execution_id, source, source_n, CASE WHEN source = '' THEN place END
        ) AS first_place
    FROM unnest($1::uuid[], $2::text[], $3::bytea[], $4::text[], $5::integer[])
    WITH ORDINALITY AS given (execution_id, kind, body, source, source_n, place)
),
locked AS MATERIALIZED (
    SELECT execution_id, status, owner, wake_at, commands_seq
    FROM layover.heads
    WHERE execution_id = ANY ($1::uuid[])
    ORDER BY execution_id
    FOR NO KEY UPDATE
),
seen AS MATERIALIZED (
    SELECT given.place, commands.n
    FROM given
    INNER JOIN layover.commands AS commands
        ON commands.execution_id = given.execution_id
        AND commands.source = given.source
        AND commands.source_n = given.source_n
    WHERE given.source <> ''
),
fresh AS MATERIALIZED (
    SELECT
        given.execution_id, given.kind, given.body, given.source, given.source_n, given.place,
        locked.commands_seq
        + (row_number() OVER (PARTITION BY given.execution_id ORDER BY given.place))::integer AS n
    FROM given
    INNER JOIN locked ON locked.execution_id = given.execution_id
    LEFT JOIN seen ON seen.place = given.place
    WHERE
        locked.status NOT IN ('completed', 'failed', 'cancelled')
        AND seen.place IS NULL
        AND given.place = given.first_place
),
taken AS (
    -- A command without an idempotency key is identified by its position.
    INSERT INTO layover.commands (execution_id, n, at, kind, body, source, source_n)
    SELECT execution_id, n, $6::bigint, kind, body, source, CASE WHEN source = '' THEN n ELSE source_n END
    FROM fresh
    RETURNING execution_id, n
),
woken AS (
    UPDATE layover.heads AS heads
    SET
        commands_seq = last.n,
        wake_at = CASE WHEN locked.owner IS NULL THEN $6::bigint ELSE locked.wake_at END
    FROM (SELECT execution_id, max(n) AS n FROM taken GROUP BY execution_id) AS last
    INNER JOIN locked ON locked.execution_id = last.execution_id
    WHERE heads.execution_id = last.execution_id
)
-- audited
SELECT
    locked.status,
    locked.owner,
    coalesce(seen.n, fresh.n) AS n,
    seen.n IS NOT NULL OR given.place <> given.first_place AS repeated
FROM given
LEFT JOIN locked ON locked.execution_id = given.execution_id
LEFT JOIN seen ON seen.place = given.place
LEFT JOIN fresh ON fresh.place = given.first_place
ORDER BY given.place

-- name: insert_commands
-- For database copies.
INSERT INTO layover.commands (execution_id, n, at, kind, body, source, source_n)
SELECT execution_id, n, at, kind, body, source, source_n
FROM unnest($1::uuid[], $2::integer[], $3::bigint[], $4::text[], $5::bytea[], $6::text[], $7::integer[])
    AS given (execution_id, n, at, kind, body, source, source_n)

-- name: command_by_source
SELECT n
FROM layover.commands
WHERE execution_id = $1::uuid AND source = $2::text AND source_n = 0

-- name: commands_after
SELECT n, at, kind, body, source, source_n
FROM layover.commands
WHERE execution_id = $1::uuid AND n > $2::bigint
ORDER BY n

-- name: commands_of_executions
SELECT c.execution_id, c.n, c.at, c.kind, c.body, c.source, c.source_n
FROM unnest($1::uuid[], $2::bigint[]) AS w (execution_id, after)
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.commands
    WHERE execution_id = w.execution_id AND n > w.after
    ORDER BY n -- so that the index is used for `n`, too
) AS c
ORDER BY c.execution_id, c.n

-- name: executions_with_unread_commands
SELECT w.execution_id
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS w (execution_id, seen, place)
JOIN layover.heads AS h ON h.execution_id = w.execution_id
WHERE h.commands_seq > w.seen
ORDER BY w.place
