DELETE FROM signals
WHERE id IN (SELECT id FROM signals WHERE dispatched = 1 AND at < :before ORDER BY at, id LIMIT :most)
