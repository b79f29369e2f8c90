UPDATE keys SET ended_at = :ends_at WHERE id = :id AND ended_at IS NULL
