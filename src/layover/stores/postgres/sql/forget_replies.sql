WITH old AS MATERIALIZED (
    SELECT scope, key
    FROM layover.replies
    WHERE until <= $1::bigint
    ORDER BY until
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM layover.replies AS r USING old AS o WHERE r.scope = o.scope AND r.key = o.key RETURNING 1
)
SELECT count(*) FROM gone
