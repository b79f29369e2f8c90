UPDATE keys SET ended_at = :now WHERE id = :id AND (ended_at IS NULL OR ended_at > :now)
