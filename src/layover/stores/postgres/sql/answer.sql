-- Passes only if the head is as it was read: no point changes without an append or a command, so its point is as well.
-- Whether somebody drives it is for the locked row to say. Returned is the head as it was, once for each command that
-- its new driver has not read.
WITH locked AS MATERIALIZED (
    SELECT
        execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq,
        commands_done, takeovers, missing, missing_since
    FROM layover.heads
    WHERE execution_id = $1::uuid AND last_seq = $2::integer AND commands_seq = $3::integer AND status = $4::text
    FOR NO KEY UPDATE
),
answered AS (
    UPDATE layover.pause_points AS points
    SET status = $6::text, body = $7::bytea
    FROM locked
    WHERE points.execution_id = locked.execution_id AND points.id = $5::text
    RETURNING points.execution_id
),
taken AS (
    INSERT INTO layover.commands (execution_id, n, at, kind, body, source, source_n)
    SELECT
        locked.execution_id, locked.commands_seq + 1, $8::bigint, $9::text, $10::bytea, $11::text, $12::integer
    FROM locked
    INNER JOIN answered ON answered.execution_id = locked.execution_id
),
woken AS (
    UPDATE layover.heads AS heads
    SET
        commands_seq = locked.commands_seq + 1,
        owner = coalesce(locked.owner, $13::text),
        epoch = CASE WHEN locked.owner IS NULL AND $13::text IS NOT NULL THEN locked.epoch + 1 ELSE locked.epoch END,
        wake_at = CASE WHEN locked.owner IS NULL THEN $14::bigint ELSE locked.wake_at END
    FROM locked
    INNER JOIN answered ON answered.execution_id = locked.execution_id
    WHERE heads.execution_id = locked.execution_id
)
SELECT
    locked.execution_id, locked.workflow, locked.status, locked.priority, locked.last_seq, locked.last_epoch,
    locked.epoch, locked.owner, locked.wake_at, locked.commands_seq, locked.commands_done, locked.takeovers,
    locked.missing, locked.missing_since,
    unread.n, unread.at, unread.kind, unread.body, unread.source, unread.source_n
FROM locked
INNER JOIN answered ON answered.execution_id = locked.execution_id
LEFT JOIN layover.commands AS unread
    ON unread.execution_id = locked.execution_id
    AND unread.n > locked.commands_done
    AND locked.owner IS NULL
    AND $13::text IS NOT NULL
ORDER BY unread.n
