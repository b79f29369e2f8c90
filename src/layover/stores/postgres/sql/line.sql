SELECT execution_id FROM layover.places WHERE name = $1::text AND held_at IS NULL ORDER BY rank, execution_id
