UPDATE heads
SET owner = NULL, takeovers = :takeovers,
    wake_at = CASE WHEN commands_seq > commands_done AND :held_at IS NULL THEN 0 ELSE :wake_at END,
    missing = :missing, missing_since = CASE WHEN :missing IS NOT NULL THEN coalesce(missing_since, :held_at, :wake_at) END
WHERE execution_id = :id AND owner = :owner AND epoch = :epoch
