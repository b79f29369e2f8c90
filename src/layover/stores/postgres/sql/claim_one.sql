-- What somebody drives is only taken over while the server's clock shows at least $5.
WITH clock AS MATERIALIZED (
    SELECT (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now
),
found AS MATERIALIZED (
    SELECT h.execution_id, h.owner
    FROM layover.heads AS h
    WHERE h.execution_id = $4::uuid AND (
        h.owner IS NULL OR (h.wake_at <= $1::bigint AND (SELECT now FROM clock) >= $5::bigint)
    )
    FOR NO KEY UPDATE
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
        (SELECT max(i.seen_at) FROM layover.instances AS i) AS latest
) AS n
LEFT JOIN claimed AS c ON TRUE
