SELECT
    points.id, points.execution_id, points.workflow, points.status, points.closed_at, points.body, points.schema,
    heads.execution_id, heads.workflow, heads.status, heads.priority, heads.last_seq, heads.last_epoch, heads.epoch,
    heads.owner, heads.wake_at, heads.commands_seq, heads.commands_done, heads.takeovers, heads.missing,
    heads.missing_since,
    commands.n
FROM layover.pause_points AS points
LEFT JOIN layover.heads AS heads ON heads.execution_id = points.execution_id
LEFT JOIN layover.commands AS commands
    ON commands.execution_id = points.execution_id
    AND commands.source = $2::text
    AND commands.source_n = 0
    AND $2::text <> ''
WHERE points.id = $1::text
