SELECT
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers
FROM (
    SELECT
        execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq,
        commands_done, takeovers
    FROM heads
    WHERE wake_at <= :now
    ORDER BY wake_at, execution_id
    LIMIT 4 * :most
)
ORDER BY priority DESC, wake_at, execution_id
LIMIT :most
