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
-- Not in order, and so many at most: the beginning of a key may be that of very many.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT execution_id AS id FROM executions WHERE correlation_id >= :first AND correlation_id < :last LIMIT :most
) AS found
JOIN executions AS e ON e.execution_id = found.id
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))

-- name: list_executions_of_ids_from
-- Not in order, and so many at most: the ids of what began in the same minutes begin alike.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT execution_id AS id FROM executions WHERE execution_id BETWEEN :first AND :last LIMIT :most
) AS found
JOIN executions AS e ON e.execution_id = found.id
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
