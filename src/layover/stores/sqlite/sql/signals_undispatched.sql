SELECT id, name, key, at, data FROM signals WHERE dispatched = 0 AND at < :before ORDER BY at, id LIMIT :most
