SELECT count(*) FROM places WHERE name = :name AND held_at IS NULL AND (rank, execution_id) < (:rank, :id)
