INSERT INTO waits (name, key, point, execution_id) VALUES (:name, :key, :point, :id) ON CONFLICT DO NOTHING
