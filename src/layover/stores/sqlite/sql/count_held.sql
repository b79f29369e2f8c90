SELECT count(*) FROM places WHERE name = :name AND held_at IS NOT NULL
