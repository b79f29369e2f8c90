SELECT seq, at, count, body
FROM events
WHERE execution_id = :id
    AND seq >= coalesce((SELECT max(seq) FROM events WHERE execution_id = :id AND seq <= :since), 0)
    AND seq + count > :since
ORDER BY seq
LIMIT :limit
