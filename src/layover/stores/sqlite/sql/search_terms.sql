-- The search index, and lists of executions by it. `paging.py` merges the lists, and checks the rest of a filter row by row.

-- name: list_executions_of_term
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM search_terms AS t
JOIN executions AS e ON e.execution_id = t.execution_id
JOIN heads AS h ON h.execution_id = t.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE t.term = :term
    AND (t.created_at, t.execution_id) < (:after_at, :after_id)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY t.created_at DESC, t.execution_id DESC
LIMIT :limit

-- name: list_executions_of_terms_between
-- Not in order: all of them are read, which are few where this is used.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT DISTINCT execution_id AS id
    FROM search_terms
    WHERE term >= :first AND term <= :last AND (created_at, execution_id) < (:after_at, :after_id)
) AS found
JOIN executions AS e ON e.execution_id = found.id
JOIN heads AS h ON h.execution_id = found.id
JOIN versions AS v ON v.id = e.version_id
WHERE (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit

-- name: list_unindexed_executions
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM heads AS h
JOIN executions AS e ON e.execution_id = h.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE h.unindexed = 1
    AND (h.created_at, h.execution_id) < (:after_at, :after_id)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY h.created_at DESC, h.execution_id DESC
LIMIT :limit

-- name: unindexed_executions
SELECT created_at, execution_id
FROM heads
WHERE unindexed = 1 AND (created_at, execution_id) < (:after_at, :after_id)
ORDER BY created_at DESC, execution_id DESC
LIMIT :most

-- name: count_unindexed
SELECT count(*) FROM (SELECT 1 FROM heads WHERE unindexed = 1 AND created_at < 9223372036854775807 LIMIT :most)

-- name: count_terms
SELECT count(*) FROM (SELECT 1 FROM search_terms WHERE term >= :first AND term <= :last LIMIT :most)

-- name: terms_of_execution
SELECT h.last_seq, i.terms
FROM heads AS h
LEFT JOIN indexed_executions AS i ON i.execution_id = h.execution_id
WHERE h.execution_id = :id AND h.unindexed = 0

-- name: stored_terms_of_execution
SELECT e.created_at, i.terms
FROM executions AS e
LEFT JOIN indexed_executions AS i ON i.execution_id = e.execution_id
WHERE e.execution_id = :id

-- name: mark_indexed
UPDATE heads SET unindexed = 0 WHERE execution_id = :id AND last_seq = :last_seq AND unindexed = 1

-- name: save_terms_of_execution
INSERT INTO indexed_executions (execution_id, terms) VALUES (:id, :terms)
ON CONFLICT (execution_id) DO UPDATE SET terms = excluded.terms

-- name: insert_terms
INSERT INTO search_terms (term, created_at, execution_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: delete_terms
DELETE FROM search_terms WHERE term = ? AND created_at = ? AND execution_id = ?

-- name: delete_terms_of_execution
DELETE FROM indexed_executions WHERE execution_id = :id
