-- Lists of executions by what few of them share. `paging.py` checks the rest of a filter row by row.

-- name: list_executions_of_correlation
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE e.correlation_id = :value
    AND (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit

-- name: list_executions_of_error
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE e.error_code <> '' AND e.error_code = :value
    AND (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit

-- name: list_resumed_executions
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE e.resume_count > 0
    AND (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit

-- name: list_slow_executions
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE e.finished_at - e.created_at >= 60000
    AND (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit

-- name: list_executions_of_correlations_from
-- Sorted by age in the index alone, before rows are read: many keys may begin alike.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT execution_id AS id
    FROM executions
    WHERE correlation_id >= :first AND correlation_id < :last AND (+created_at, +execution_id) < (:after_at, :after_id) -- not sought by
    ORDER BY +created_at DESC, +execution_id DESC
    LIMIT :limit
) AS found
JOIN executions AS e ON e.execution_id = found.id
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
ORDER BY e.created_at DESC, e.execution_id DESC

-- name: count_correlations_from
SELECT count(*) FROM (SELECT 1 FROM executions WHERE correlation_id >= :first AND correlation_id < :last LIMIT :most)

-- name: list_executions_of_ids_from
-- The same with the beginning of an id.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT execution_id AS id
    FROM executions
    WHERE execution_id BETWEEN :first AND :last AND (+created_at, +execution_id) < (:after_at, :after_id) -- not sought by
    ORDER BY +created_at DESC, +execution_id DESC
    LIMIT :limit
) AS found
JOIN executions AS e ON e.execution_id = found.id
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
ORDER BY e.created_at DESC, e.execution_id DESC

-- name: count_ids_from
SELECT count(*) FROM (SELECT 1 FROM executions WHERE execution_id BETWEEN :first AND :last LIMIT :most)

-- name: list_executions_of_user
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE e.user = :value
    AND (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit

-- name: list_executions_of_ids
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM json_each(:ids)
CROSS JOIN executions AS e ON e.execution_id = unhex(json_each.value)
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:workflow IS NULL OR h.workflow = :workflow)
    AND (:status IS NULL OR h.status IN (SELECT value FROM json_each(:status)))
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit

-- name: executions_of_waiting_points
SELECT p.execution_id
FROM json_each(:kinds)
CROSS JOIN pause_points AS p ON p.kind = json_each.value
WHERE p.status IN ('open', 'answered')
LIMIT :most

-- name: open_kinds_of_executions
SELECT p.execution_id, p.kind
FROM json_each(:ids)
CROSS JOIN pause_points AS p ON p.execution_id = unhex(json_each.value)
WHERE p.status = 'open'

-- name: workflows_of_hashes
SELECT DISTINCT v.workflow
FROM json_each(:hashes)
CROSS JOIN versions AS v ON v.hash = json_each.value
LIMIT :most

-- name: count_waiting_on
SELECT count(DISTINCT CASE WHEN status = 'open' THEN execution_id END), count(*)
FROM (
    SELECT p.execution_id, p.status
    FROM json_each(:kinds)
    CROSS JOIN pause_points AS p ON p.kind = json_each.value
    WHERE p.status IN ('open', 'answered')
    LIMIT :most
)

-- name: count_retrying
-- Executions that wait, and have no open point: those make another attempt later.
SELECT
    coalesce(sum(found.wake_at IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM pause_points AS p WHERE p.execution_id = found.execution_id AND p.status = 'open'
    )), 0),
    count(*)
FROM (SELECT execution_id, wake_at FROM heads WHERE status = 'waiting' AND status <> 'completed' LIMIT :most) AS found

-- name: count_held
-- Executions that are paused, and not for a person.
SELECT
    coalesce(sum(NOT EXISTS (
        SELECT 1
        FROM pause_points AS p
        WHERE p.execution_id = found.execution_id AND p.status = 'open' AND p.kind IN ('approval', 'form')
    )), 0),
    count(*)
FROM (SELECT execution_id FROM heads WHERE status = 'paused' AND status <> 'completed' LIMIT :most) AS found
