INSERT INTO heads (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at, created_at
)
VALUES (
    :id, :workflow, :status, :priority, :last_seq, :last_epoch, :epoch, :owner, :wake_at, :commands_seq, :commands_done,
    :takeovers, :missing, :missing_since, :paused_at, :created_at
)
