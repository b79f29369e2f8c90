-- name: claim_due
-- A lease lasts until $3, and for at least $4 by the latest time that an instance has.
-- What an instance drives is only taken over while the clock of the server shows at least $8.
-- Skips locked heads, so a claim never waits. First come due heads, then those that wait for functions of the instance.
WITH clock AS MATERIALIZED (
    SELECT
        (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now,
        (SELECT max(i.seen_at) FROM layover.instances AS i) AS latest
),
candidates AS MATERIALIZED (
    SELECT execution_id, wake_at, priority
    FROM layover.heads
    WHERE wake_at <= $1::bigint AND (owner IS NULL OR (SELECT now FROM clock) >= $8::bigint)
    ORDER BY wake_at, execution_id
    LIMIT 4 * $5::integer
),
due AS MATERIALIZED (
    SELECT h.execution_id, h.owner, c.wake_at - 1000 * c.priority::bigint AS urgency
    FROM candidates AS c
    JOIN layover.heads AS h ON h.execution_id = c.execution_id
    WHERE coalesce(h.wake_at, $1 + 1) <= $1 -- coalesced, so that the index is not used again to read all due heads
    ORDER BY c.wake_at - 1000 * c.priority::bigint, c.execution_id
    LIMIT $5
    FOR NO KEY UPDATE OF h SKIP LOCKED
),
startable AS MATERIALIZED (
    SELECT h.execution_id, coalesce(h.missing_since, -1) AS waited
    FROM layover.heads AS h
    WHERE h.missing && $6::text[] AND h.missing IS NOT NULL AND h.owner IS NULL AND (h.wake_at IS NULL OR h.wake_at > $1)
    ORDER BY coalesce(h.missing_since, -1), h.execution_id
    LIMIT least($5 - (SELECT count(*) FROM due), $7::integer)
    FOR NO KEY UPDATE SKIP LOCKED
),
found AS MATERIALIZED (
    SELECT execution_id, owner, 0 AS kind, urgency AS place FROM due
    UNION ALL
    SELECT execution_id, NULL, 1, waited FROM startable
),
claimed AS (
    UPDATE layover.heads AS h
    SET owner = $2::text, epoch = h.epoch + 1,
        wake_at = greatest($3::bigint, (SELECT greatest(now, latest) FROM clock) + $4::bigint),
        takeovers = h.takeovers + (f.owner IS NOT NULL)::integer
    FROM found AS f
    WHERE h.execution_id = f.execution_id
    RETURNING
        h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
        h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
        f.owner IS NOT NULL AS taken_over, f.kind, f.place
)
SELECT
    c.execution_id, c.workflow, c.status, c.priority, c.last_seq, c.last_epoch, c.epoch, c.owner, c.wake_at,
    c.commands_seq, c.commands_done, c.takeovers, c.missing, c.missing_since, c.paused_at, c.taken_over,
    n.next_due, n.now, n.latest
FROM (
    SELECT
        (
            SELECT h.wake_at
            FROM layover.heads AS h
            WHERE h.wake_at > $1 AND NOT EXISTS (SELECT 1 FROM found AS f WHERE f.execution_id = h.execution_id)
            ORDER BY h.wake_at
            LIMIT 1
        ) AS next_due,
        (SELECT now FROM clock) AS now,
        (SELECT latest FROM clock) AS latest
) AS n
LEFT JOIN claimed AS c ON TRUE
ORDER BY c.kind, c.place, c.execution_id

-- name: claim_one
-- A lease lasts until $3, and for at least $4 by the latest time that an instance has.
-- What an instance drives is only taken over while the clock of the server shows at least $6.
WITH clock AS MATERIALIZED (
    SELECT
        (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now,
        (SELECT max(i.seen_at) FROM layover.instances AS i) AS latest
),
found AS MATERIALIZED (
    SELECT h.execution_id, h.owner
    FROM layover.heads AS h
    WHERE h.execution_id = $5::uuid AND (
        h.owner IS NULL OR (h.wake_at <= $1::bigint AND (SELECT now FROM clock) >= $6::bigint)
    )
    FOR NO KEY UPDATE
),
claimed AS (
    UPDATE layover.heads AS h
    SET owner = $2::text, epoch = h.epoch + 1,
        wake_at = greatest($3::bigint, (SELECT greatest(now, latest) FROM clock) + $4::bigint),
        takeovers = h.takeovers + (f.owner IS NOT NULL)::integer
    FROM found AS f
    WHERE h.execution_id = f.execution_id
    RETURNING
        h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
        h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
        f.owner IS NOT NULL AS taken_over
)
SELECT
    c.execution_id, c.workflow, c.status, c.priority, c.last_seq, c.last_epoch, c.epoch, c.owner, c.wake_at,
    c.commands_seq, c.commands_done, c.takeovers, c.missing, c.missing_since, c.paused_at, c.taken_over,
    n.next_due, n.now, n.latest
FROM (
    SELECT
        (
            SELECT h.wake_at
            FROM layover.heads AS h
            WHERE h.wake_at > $1 AND NOT EXISTS (SELECT 1 FROM found AS f WHERE f.execution_id = h.execution_id)
            ORDER BY h.wake_at
            LIMIT 1
        ) AS next_due,
        (SELECT now FROM clock) AS now,
        (SELECT latest FROM clock) AS latest
) AS n
LEFT JOIN claimed AS c ON TRUE

-- name: renew_leases
-- A lease lasts until $4, and for at least $5 by the latest time that an instance has.
-- Skips locked heads and reports them as busy. A renewal that was overtaken by a later one must not shorten the lease.
WITH clock AS MATERIALIZED (
    SELECT
        (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now,
        (SELECT max(i.seen_at) FROM layover.instances AS i) AS latest
),
given AS MATERIALIZED (
    SELECT * FROM unnest($2::uuid[], $3::integer[]) AS g (execution_id, epoch)
),
locked AS MATERIALIZED (
    SELECT h.execution_id, g.epoch, h.owner IS NOT DISTINCT FROM $1::text AND h.epoch = g.epoch AS ours
    FROM given AS g
    JOIN layover.heads AS h ON h.execution_id = g.execution_id
    ORDER BY h.execution_id
    FOR NO KEY UPDATE OF h SKIP LOCKED
),
renewed AS (
    UPDATE layover.heads AS h
    SET wake_at = greatest(h.wake_at, $4::bigint, (SELECT greatest(now, latest) FROM clock) + $5::bigint)
    FROM locked AS l
    WHERE h.execution_id = l.execution_id AND l.ours
)
SELECT
    g.execution_id,
    g.epoch,
    (g.execution_id IN (SELECT execution_id FROM locked)) IS NOT TRUE
        AND (SELECT TRUE FROM layover.heads AS h WHERE h.execution_id = g.execution_id) IS TRUE AS busy,
    c.now,
    c.latest
FROM clock AS c
LEFT JOIN given AS g ON ((g.execution_id, g.epoch) IN (SELECT execution_id, epoch FROM locked WHERE ours)) IS NOT TRUE

-- name: renew_leases_waiting
-- The last try: waits for locked heads.
WITH clock AS MATERIALIZED (
    SELECT
        (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now,
        (SELECT max(i.seen_at) FROM layover.instances AS i) AS latest
),
given AS MATERIALIZED (
    SELECT * FROM unnest($2::uuid[], $3::integer[]) AS g (execution_id, epoch)
),
locked AS MATERIALIZED (
    SELECT h.execution_id, g.epoch, h.owner IS NOT DISTINCT FROM $1::text AND h.epoch = g.epoch AS ours
    FROM given AS g
    JOIN layover.heads AS h ON h.execution_id = g.execution_id
    ORDER BY h.execution_id
    FOR NO KEY UPDATE OF h
),
renewed AS (
    UPDATE layover.heads AS h
    SET wake_at = greatest(h.wake_at, $4::bigint, (SELECT greatest(now, latest) FROM clock) + $5::bigint)
    FROM locked AS l
    WHERE h.execution_id = l.execution_id AND l.ours
)
SELECT g.execution_id, g.epoch, FALSE AS busy, c.now, c.latest
FROM clock AS c
LEFT JOIN given AS g ON ((g.execution_id, g.epoch) IN (SELECT execution_id, epoch FROM locked WHERE ours)) IS NOT TRUE

-- name: release_leases
-- Unread commands make the execution due at once, unless it is held back.
WITH locked AS MATERIALIZED (
    SELECT h.execution_id, g.takeovers
    FROM unnest($2::uuid[], $3::integer[], $7::integer[]) AS g (execution_id, epoch, takeovers)
    JOIN layover.heads AS h ON h.execution_id = g.execution_id AND h.epoch = g.epoch
    WHERE h.owner IS NOT DISTINCT FROM $1::text -- not by the index on the owner: it drives many others
    ORDER BY h.execution_id
    FOR NO KEY UPDATE OF h
)
UPDATE layover.heads AS h
SET owner = NULL,
    takeovers = l.takeovers,
    wake_at = CASE WHEN h.commands_seq > h.commands_done AND $6::bigint IS NULL THEN 0 ELSE $4::bigint END,
    missing = $5::text[],
    missing_since = CASE WHEN $5 IS NOT NULL THEN coalesce(h.missing_since, $6, $4) END
FROM locked AS l
WHERE h.execution_id = l.execution_id

-- name: expire_leases
-- The leases of instances that are known to be dead.
WITH locked AS MATERIALIZED (
    SELECT execution_id
    FROM layover.heads
    WHERE owner = ANY($1::text[]) AND wake_at > $2::bigint
    ORDER BY execution_id
    FOR NO KEY UPDATE
)
UPDATE layover.heads AS h
SET wake_at = $2
FROM locked AS l
WHERE h.execution_id = l.execution_id
