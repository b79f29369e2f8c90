SELECT seq, at, count, body FROM events WHERE execution_id = :id AND seq > :after ORDER BY seq
