INSERT INTO signals (id, name, key, at, data, dispatched) VALUES (:id, :name, :key, :at, :data, :dispatched)
