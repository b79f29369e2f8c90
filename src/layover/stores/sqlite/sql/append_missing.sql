UPDATE heads
SET last_seq = :last_seq, last_epoch = :epoch, status = :status, commands_done = :seen, takeovers = 0,
    paused_at = CASE
        WHEN :status = 'paused' THEN coalesce(:since, CASE WHEN status = 'paused' THEN paused_at ELSE :at END)
    END,
    owner = NULL, wake_at = :wake_at, missing = :missing, missing_since = coalesce(missing_since, :at)
WHERE execution_id = :id AND owner = :owner AND epoch = :epoch AND last_seq = :expected AND commands_seq = :seen
