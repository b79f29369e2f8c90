SELECT
    h.execution_id,
    (
        SELECT coalesce(sum(octet_length(n.body)), 0)
        FROM layover.events AS n
        WHERE n.execution_id = h.execution_id
            AND n.era = floor(h.created_at / 604800000.0::double precision)::integer
    )
    + (SELECT coalesce(sum(octet_length(c.body)), 0) FROM layover.commands AS c WHERE c.execution_id = h.execution_id)
    + (
        SELECT coalesce(sum(octet_length(p.body)), 0)
        FROM layover.pause_points AS p
        WHERE p.execution_id = h.execution_id
    )
    + (SELECT coalesce(sum(octet_length(o.body)), 0) FROM layover.outbox AS o WHERE o.sender = h.execution_id)
    + coalesce((SELECT octet_length(s.body) FROM layover.snapshots AS s WHERE s.execution_id = h.execution_id), 0)
FROM layover.heads AS h
WHERE h.execution_id >= $1::uuid
ORDER BY h.execution_id
LIMIT $2::bigint
