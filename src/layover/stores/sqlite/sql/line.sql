SELECT execution_id FROM places WHERE name = :name AND held_at IS NULL ORDER BY rank, execution_id
