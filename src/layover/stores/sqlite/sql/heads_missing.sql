SELECT
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at
FROM heads
WHERE missing = :missing AND owner IS NULL AND (wake_at IS NULL OR wake_at > :now)
ORDER BY missing_since, execution_id
LIMIT :most
