SELECT id, name, key, at, data FROM signals WHERE name = :name AND key = :key AND at >= :since ORDER BY at, id
