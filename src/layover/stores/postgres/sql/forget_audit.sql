WITH old AS MATERIALIZED (
    SELECT at, id
    FROM layover.audit
    WHERE at < $1::bigint
    ORDER BY at, id
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM layover.audit AS a USING old AS o WHERE a.at = o.at AND a.id = o.id RETURNING 1
)
SELECT count(*) FROM gone
