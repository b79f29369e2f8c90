SELECT
    h.execution_id,
    (SELECT coalesce(sum(length(e.body)), 0) FROM events AS e WHERE e.execution_id = h.execution_id)
    + (SELECT coalesce(sum(length(c.body)), 0) FROM commands AS c WHERE c.execution_id = h.execution_id)
    + (SELECT coalesce(sum(length(p.body)), 0) FROM pause_points AS p WHERE p.execution_id = h.execution_id)
    + (SELECT coalesce(sum(length(o.body)), 0) FROM outbox AS o WHERE o.sender = h.execution_id)
    + coalesce((SELECT length(s.body) FROM snapshots AS s WHERE s.execution_id = h.execution_id), 0)
FROM heads AS h
WHERE h.execution_id > :after
ORDER BY h.execution_id
LIMIT :most
