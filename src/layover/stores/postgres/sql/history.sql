WITH log AS MATERIALIZED (
    SELECT floor(h.created_at / 604800000.0::double precision)::integer AS era
    FROM layover.heads AS h
    WHERE h.execution_id = $1::uuid
)
SELECT seq, at, count, body
FROM layover.events
WHERE execution_id = $1
    AND era = (SELECT era FROM log)
    AND seq >= coalesce(
        (
            SELECT max(seq)
            FROM layover.events
            WHERE execution_id = $1 AND era = (SELECT era FROM log) AND seq <= $2::bigint
        ),
        0
    )
    AND seq + count > $2
ORDER BY seq
LIMIT $3::bigint
