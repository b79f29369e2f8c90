INSERT INTO heads (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers
)
VALUES (:id, :workflow, :status, :priority, :last_seq, :epoch, :epoch, :owner, :wake_at, 0, 0, 0)
ON CONFLICT DO NOTHING
