INSERT INTO heads (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, paused_at, created_at
)
VALUES (
    :id, :workflow, :status, :priority, :last_seq, :epoch, :epoch, :owner, :wake_at, 0, 0, 0, :paused_at, :created_at
)
ON CONFLICT DO NOTHING
