-- A lease lasts until $4, and for at least $5 by the latest time that anybody has.
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
