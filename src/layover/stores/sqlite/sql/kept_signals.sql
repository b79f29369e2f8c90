SELECT id, name, key, at, data, dispatched FROM signals WHERE id > :after ORDER BY id LIMIT :most
