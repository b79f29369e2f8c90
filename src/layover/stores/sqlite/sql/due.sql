SELECT
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at
FROM (
    SELECT
        execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq,
        commands_done, takeovers, missing, missing_since, paused_at
    FROM heads
    WHERE wake_at <= :now
    ORDER BY wake_at, execution_id
    LIMIT 4 * :most
)
ORDER BY wake_at - 1000 * priority, execution_id
LIMIT :most
