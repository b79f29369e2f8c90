-- name: points_to_answer
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

-- name: write_answers
-- Writes answers to executions whose heads are as they were read: a point changes only with an append or a command, so
-- the points are as they were read, too. The locked row says whether an instance drives the execution. Returns each
-- head as it was, once for each command that its new owner has not read, and when it is due next. A lease lasts for at
-- least its length by the latest time that an instance has.
WITH clock AS MATERIALIZED (
    SELECT
        (extract(EPOCH FROM clock_timestamp()) * 1000)::bigint AS now,
        (SELECT max(i.seen_at) FROM layover.instances AS i) AS latest
),
given AS MATERIALIZED (
    SELECT *
    FROM unnest(
        $1::uuid[], $2::integer[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::bigint[],
        $9::text[], $10::bytea[], $11::text[], $12::integer[], $13::text[], $14::bigint[], $15::bigint[]
    ) AS given (
        execution_id, last_seq, commands_seq, status, point, point_status, point_body, at, kind, body, source,
        source_n, instance, wake_at, length
    )
),
locked AS MATERIALIZED (
    SELECT
        heads.execution_id, heads.workflow, heads.status, heads.priority, heads.last_seq, heads.last_epoch,
        heads.epoch, heads.owner, heads.wake_at, heads.commands_seq, heads.commands_done, heads.takeovers,
        heads.missing, heads.missing_since, heads.paused_at,
        given.point, given.point_status, given.point_body, given.at, given.kind, given.body, given.source,
        given.source_n, given.instance,
        greatest(given.wake_at, (SELECT greatest(now, latest) FROM clock) + given.length) AS next_wake_at
    FROM given
    INNER JOIN layover.heads AS heads ON heads.execution_id = given.execution_id
    WHERE heads.last_seq = given.last_seq AND heads.commands_seq = given.commands_seq AND heads.status = given.status
    ORDER BY heads.execution_id
    FOR NO KEY UPDATE OF heads
),
answered AS (
    UPDATE layover.pause_points AS points
    SET status = locked.point_status, body = locked.point_body
    FROM locked
    WHERE points.execution_id = locked.execution_id AND points.id = locked.point
),
taken AS (
    INSERT INTO layover.commands (execution_id, n, at, kind, body, source, source_n)
    SELECT execution_id, commands_seq + 1, at, kind, body, source, source_n FROM locked
),
woken AS (
    UPDATE layover.heads AS heads
    SET
        commands_seq = locked.commands_seq + 1,
        owner = coalesce(locked.owner, locked.instance),
        epoch = CASE
            WHEN locked.owner IS NULL AND locked.instance IS NOT NULL THEN locked.epoch + 1 ELSE locked.epoch
        END,
        wake_at = CASE WHEN locked.owner IS NULL THEN locked.next_wake_at ELSE locked.wake_at END
    FROM locked
    WHERE heads.execution_id = locked.execution_id
)
-- audited
SELECT
    locked.execution_id, locked.workflow, locked.status, locked.priority, locked.last_seq, locked.last_epoch,
    locked.epoch, locked.owner, locked.wake_at, locked.commands_seq, locked.commands_done, locked.takeovers,
    locked.missing, locked.missing_since, locked.paused_at,
    unread.n, unread.at, unread.kind, unread.body, unread.source, unread.source_n, locked.next_wake_at
FROM locked
LEFT JOIN layover.commands AS unread
    ON unread.execution_id = locked.execution_id
    AND unread.n > locked.commands_done
    AND locked.owner IS NULL
    AND locked.instance IS NOT NULL
ORDER BY locked.execution_id, unread.n

-- name: lock_head_of_point
SELECT 1
FROM layover.heads
WHERE execution_id = (SELECT points.execution_id FROM layover.pause_points AS points WHERE points.id = $1::text)
FOR NO KEY UPDATE
