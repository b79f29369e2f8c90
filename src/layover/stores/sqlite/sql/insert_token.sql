INSERT INTO tokens (hash, execution_id, point) VALUES (:hash, :id, :point) ON CONFLICT DO NOTHING
