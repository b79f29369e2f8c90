SELECT execution_id FROM places WHERE name = :name AND held_at IS NOT NULL ORDER BY held_at, execution_id LIMIT :most
