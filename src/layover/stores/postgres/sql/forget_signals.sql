WITH old AS MATERIALIZED (
    SELECT id
    FROM layover.signals
    WHERE dispatched AND at < $1::bigint
    ORDER BY at, id
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM layover.signals AS s USING old AS o WHERE s.id = o.id RETURNING 1
)
SELECT count(*) FROM gone
