SELECT
    given.place,
    points.id, points.execution_id, points.workflow, points.status, points.closed_at, points.body, points.schema,
    heads.execution_id, heads.workflow, heads.status, heads.priority, heads.last_seq, heads.last_epoch, heads.epoch,
    heads.owner, heads.wake_at, heads.commands_seq, heads.commands_done, heads.takeovers, heads.missing,
    heads.missing_since, heads.paused_at,
    (
        SELECT commands.n
        FROM layover.commands AS commands
        WHERE
            commands.execution_id = points.execution_id
            AND commands.source = given.source
            AND commands.source_n = 0
            AND given.source <> ''
    ) AS seen
FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS given (point, source, place)
INNER JOIN layover.pause_points AS points ON points.id = given.point
LEFT JOIN layover.heads AS heads ON heads.execution_id = points.execution_id
