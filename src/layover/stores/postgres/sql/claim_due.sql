-- What somebody drives is only taken over while the server's clock shows at least $7.
WITH clock AS MATERIALIZED (
    SELECT (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now
),
candidates AS MATERIALIZED (
    SELECT execution_id, wake_at, priority
    FROM layover.heads
    WHERE wake_at <= $1::bigint AND (owner IS NULL OR (SELECT now FROM clock) >= $7::bigint)
    ORDER BY wake_at, execution_id
    LIMIT 4 * $4::integer
),
due AS MATERIALIZED (
    SELECT h.execution_id, h.owner, c.wake_at - 1000 * c.priority::bigint AS urgency
    FROM candidates AS c
    JOIN layover.heads AS h ON h.execution_id = c.execution_id
    WHERE coalesce(h.wake_at, $1 + 1) <= $1 -- so that nobody seeks by it: all that are due would be read once more
    ORDER BY c.wake_at - 1000 * c.priority::bigint, c.execution_id
    LIMIT $4
    FOR NO KEY UPDATE OF h SKIP LOCKED
),
startable AS MATERIALIZED (
    SELECT h.execution_id, coalesce(h.missing_since, -1) AS waited
    FROM layover.heads AS h
    WHERE h.missing && $5::text[] AND h.missing IS NOT NULL AND h.owner IS NULL AND (h.wake_at IS NULL OR h.wake_at > $1)
    ORDER BY coalesce(h.missing_since, -1), h.execution_id
    LIMIT least($4 - (SELECT count(*) FROM due), $6::integer)
    FOR NO KEY UPDATE SKIP LOCKED
),
found AS MATERIALIZED (
    SELECT execution_id, owner, 0 AS kind, urgency AS place FROM due
    UNION ALL
    SELECT execution_id, NULL, 1, waited FROM startable
),
claimed AS (
    UPDATE layover.heads AS h
    SET owner = $2::text, epoch = h.epoch + 1, wake_at = $3::bigint,
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
        (SELECT max(i.seen_at) FROM layover.instances AS i) AS latest
) AS n
LEFT JOIN claimed AS c ON TRUE
ORDER BY c.kind, c.place, c.execution_id
