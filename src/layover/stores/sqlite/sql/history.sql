SELECT seq, at, count, body
FROM events
WHERE execution_id = :id AND seq + count > :since
ORDER BY seq
LIMIT :limit
