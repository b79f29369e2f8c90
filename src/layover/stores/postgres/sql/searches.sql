-- Lists of executions by what few of them share. `paging.py` checks the rest of a filter row by row.

-- name: list_executions_of_correlation
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.executions AS e
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.heads
    WHERE execution_id = e.execution_id
    OFFSET 0 -- looked up row by row in the order of the index, also before the table has statistics
) AS h
JOIN layover.versions AS v ON v.id = e.version_id
-- All columns of the index, so that no other index fits, however old the statistics are.
WHERE (e.correlation_id COLLATE "C", e.created_at, e.execution_id) < ($4::text, $2::bigint, $3::uuid)
    AND e.correlation_id COLLATE "C" >= $4
ORDER BY e.correlation_id COLLATE "C" DESC, e.created_at DESC, e.execution_id DESC
LIMIT $1::bigint

-- name: list_executions_of_error
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.executions AS e
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.heads
    WHERE execution_id = e.execution_id
    OFFSET 0 -- looked up row by row in the order of the index, also before the table has statistics
) AS h
JOIN layover.versions AS v ON v.id = e.version_id
-- All columns of the index, so that no other index fits, however old the statistics are.
WHERE (e.error_code COLLATE "C", e.created_at, e.execution_id) < ($4::text, $2::bigint, $3::uuid)
    AND e.error_code <> ''
    AND e.error_code COLLATE "C" >= $4
ORDER BY e.error_code COLLATE "C" DESC, e.created_at DESC, e.execution_id DESC
LIMIT $1::bigint

-- name: list_resumed_executions
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.executions AS e
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.heads
    WHERE execution_id = e.execution_id
    OFFSET 0 -- looked up row by row in the order of the index, also before the table has statistics
) AS h
JOIN layover.versions AS v ON v.id = e.version_id
WHERE e.resume_count > 0
    AND (e.created_at, e.execution_id) < ($2::bigint, $3::uuid)
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $1::bigint

-- name: list_slow_executions
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.executions AS e
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.heads
    WHERE execution_id = e.execution_id
    OFFSET 0 -- looked up row by row in the order of the index, also before the table has statistics
) AS h
JOIN layover.versions AS v ON v.id = e.version_id
WHERE e.finished_at - e.created_at >= 60000
    AND (e.created_at, e.execution_id) < ($2::bigint, $3::uuid)
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $1::bigint

-- name: list_executions_of_correlations_from
-- Sorted by age in the index alone, before rows are read: many keys may begin alike.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT alike.created_at, alike.execution_id
    FROM (
        SELECT created_at, execution_id
        FROM layover.executions
        WHERE correlation_id COLLATE "C" >= $4::text AND correlation_id COLLATE "C" < $5::text
        OFFSET 0 -- sought by this, and not gone through by age, whatever the statistics say
    ) AS alike
    WHERE (alike.created_at, alike.execution_id) < ($2::bigint, $3::uuid)
    ORDER BY alike.created_at DESC, alike.execution_id DESC
    LIMIT $1::bigint
) AS c
JOIN layover.executions AS e ON e.execution_id = c.execution_id
JOIN layover.heads AS h ON h.execution_id = c.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
ORDER BY c.created_at DESC, c.execution_id DESC

-- name: count_correlations_from
SELECT count(*)
FROM (SELECT 1 FROM layover.executions WHERE correlation_id COLLATE "C" >= $1::text AND correlation_id COLLATE "C" < $2::text LIMIT $3::bigint) AS s

-- name: list_executions_of_ids_from
-- The same with the beginning of an id.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT alike.created_at, alike.execution_id
    FROM (
        SELECT created_at, execution_id
        FROM layover.executions
        WHERE execution_id BETWEEN $4::uuid AND $5::uuid
        OFFSET 0 -- sought by this, and not gone through by age, whatever the statistics say
    ) AS alike
    WHERE (alike.created_at, alike.execution_id) < ($2::bigint, $3::uuid)
    ORDER BY alike.created_at DESC, alike.execution_id DESC
    LIMIT $1::bigint
) AS c
JOIN layover.executions AS e ON e.execution_id = c.execution_id
JOIN layover.heads AS h ON h.execution_id = c.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
ORDER BY c.created_at DESC, c.execution_id DESC

-- name: count_ids_from
SELECT count(*)
FROM (SELECT 1 FROM layover.executions WHERE execution_id BETWEEN $1::uuid AND $2::uuid LIMIT $3::bigint) AS s

-- name: list_executions_of_user
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.executions AS e
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.heads
    WHERE execution_id = e.execution_id
    OFFSET 0 -- looked up row by row in the order of the index, also before the table has statistics
) AS h
JOIN layover.versions AS v ON v.id = e.version_id
-- All columns of the index, so that no other index fits, however old the statistics are.
WHERE (e."user" COLLATE "C", e.created_at, e.execution_id) < ($4::text, $2::bigint, $3::uuid)
    AND e."user" COLLATE "C" >= $4
ORDER BY e."user" COLLATE "C" DESC, e.created_at DESC, e.execution_id DESC
LIMIT $1::bigint

-- name: list_executions_of_ids
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM unnest($4::uuid[]) AS given (id)
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.executions
    WHERE execution_id = given.id
    OFFSET 0 -- looked up one by one, also before the table has statistics
) AS e
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.heads
    WHERE execution_id = given.id
    OFFSET 0
) AS h
JOIN layover.versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < ($2::bigint, $3::uuid)
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $1::bigint

-- name: executions_of_waiting_points
SELECT p.execution_id
FROM unnest($1::text[]) AS given (kind)
CROSS JOIN LATERAL (
    SELECT o.execution_id
    FROM layover.pause_points AS o
    WHERE o.status IN ('open', 'answered')
        -- All columns of the index, so that no other index fits, however old the statistics are.
        AND (o.kind, o.opened_at, o.id) > (given.kind, (-9223372036854775808)::bigint, '')
        AND o.kind <= given.kind
    ORDER BY o.kind, o.opened_at, o.id
    LIMIT $2::bigint
) AS p
LIMIT $2::bigint

-- name: open_kinds_of_executions
SELECT p.execution_id, p.kind
FROM unnest($1::uuid[]) AS given (id)
CROSS JOIN LATERAL (
    SELECT o.execution_id, o.kind
    FROM layover.pause_points AS o
    WHERE o.execution_id = given.id AND o.status = 'open'
    OFFSET 0 -- looked up execution by execution, also before the table has statistics
) AS p

-- name: list_executions_of_hashes
-- Merges the lists of the versions that have them.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT found.*
    FROM layover.versions AS n
    CROSS JOIN LATERAL ( -- of each version
        SELECT x.*
        FROM layover.executions AS x
        -- All columns of the index, so that no other index fits, however old the statistics are.
        WHERE (x.version_id, x.created_at, x.execution_id) < (n.id, $2::bigint, $3::uuid)
            AND x.version_id >= n.id
        ORDER BY x.version_id DESC, x.created_at DESC, x.execution_id DESC
        LIMIT $1::bigint
    ) AS found
    WHERE n.hash = ANY($4::text[])
    ORDER BY found.created_at DESC, found.execution_id DESC
    LIMIT $1::bigint
) AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
ORDER BY e.created_at DESC, e.execution_id DESC

-- name: count_waiting_on
SELECT count(DISTINCT p.execution_id) FILTER (WHERE p.status = 'open') AS executions, count(*) AS looked_at
FROM unnest($1::text[]) AS given (kind)
CROSS JOIN LATERAL (
    SELECT o.execution_id, o.status
    FROM layover.pause_points AS o
    WHERE o.status IN ('open', 'answered')
        -- All columns of the index, so that no other index fits, however old the statistics are.
        AND (o.kind, o.opened_at, o.id) > (given.kind, (-9223372036854775808)::bigint, '')
        AND o.kind <= given.kind
    ORDER BY o.kind, o.opened_at, o.id
    LIMIT $2::bigint
) AS p

-- name: count_retrying
-- Executions that wait, and have no open point: those make another attempt later.
SELECT count(*) FILTER (WHERE h.wake_at IS NOT NULL AND NOT now.has_open) AS executions, count(*) AS looked_at
FROM (
    SELECT execution_id, wake_at FROM layover.heads WHERE status = 'waiting' AND status <> 'completed' LIMIT $1::bigint
) AS h
CROSS JOIN LATERAL (
    SELECT exists(
        SELECT FROM layover.pause_points AS p WHERE p.execution_id = h.execution_id AND p.status = 'open'
    ) AS has_open
    OFFSET 0 -- looked up execution by execution, also before the table has statistics
) AS now

-- name: count_held
-- Executions that are paused, and not for a person.
SELECT count(*) FILTER (WHERE NOT now.has_open) AS executions, count(*) AS looked_at
FROM (
    SELECT execution_id
    FROM layover.heads
    WHERE status = 'paused'
        -- All columns of the index, so that no other index fits, however old the statistics are.
        AND (coalesce(paused_at, created_at), execution_id)
        > ((-9223372036854775808)::bigint, '00000000-0000-0000-0000-000000000000'::uuid)
    ORDER BY coalesce(paused_at, created_at), execution_id
    LIMIT $1::bigint
) AS h
CROSS JOIN LATERAL (
    SELECT exists(
        SELECT
        FROM layover.pause_points AS p
        WHERE p.execution_id = h.execution_id AND p.status = 'open'
            AND (p.kind IN ('approval', 'form')) IS TRUE -- not sought by: the key is enough
    ) AS has_open
    OFFSET 0 -- looked up execution by execution, also before the table has statistics
) AS now
