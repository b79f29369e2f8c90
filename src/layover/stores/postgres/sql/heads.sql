SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at
FROM unnest($1::uuid[]) AS w (execution_id)
JOIN layover.heads AS h ON h.execution_id = w.execution_id
