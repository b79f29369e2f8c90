-- name: head_by_id
SELECT
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at
FROM heads
WHERE execution_id = :id

-- name: execution_by_id
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE e.execution_id = :id

-- name: snapshot_of_execution
SELECT seq, body FROM snapshots WHERE execution_id = :id

-- name: entries_after
SELECT seq, at, count, body FROM events WHERE execution_id = :id AND seq > :after ORDER BY seq

-- name: last_entry
SELECT coalesce(max(rowid), 0) FROM events

-- name: entries_appended
SELECT rowid, execution_id FROM events WHERE rowid > :after ORDER BY rowid LIMIT :most

-- name: history
-- From the entry that holds an event, which may begin before it.
SELECT seq, at, count, body
FROM events
WHERE execution_id = :id
    AND seq >= coalesce((SELECT max(seq) FROM events WHERE execution_id = :id AND seq <= :since), 0)
    AND seq + count > :since
ORDER BY seq
LIMIT :limit

-- name: list_executions
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:status IS NULL OR h.status IN (SELECT value FROM json_each(:status)))
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit

-- name: list_executions_of_parent
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE e.parent_id = :parent_id
    AND (e.created_at, e.execution_id) < (:after_at, :after_id)
    AND (:workflow IS NULL OR h.workflow = :workflow)
    AND (:status IS NULL OR h.status IN (SELECT value FROM json_each(:status)))
    AND (:tag IS NULL OR :tag IN (SELECT value FROM json_each(e.tags)))
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT :limit

-- name: list_executions_of_tag
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM tags AS t
JOIN executions AS e ON e.execution_id = t.execution_id
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE t.tag = :tag
    AND (t.created_at, t.execution_id) < (:after_at, :after_id)
    AND (:workflow IS NULL OR h.workflow = :workflow)
    AND (:status IS NULL OR h.status IN (SELECT value FROM json_each(:status)))
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY t.created_at DESC, t.execution_id DESC
LIMIT :limit

-- name: list_executions_of_status
-- Completed executions are most of all, and are not in this index.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM heads AS h
JOIN executions AS e ON e.execution_id = h.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE h.status <> 'completed'
    AND h.status = :one_status
    AND (h.created_at, h.execution_id) < (:after_at, :after_id)
    AND (:workflow IS NULL OR h.workflow = :workflow)
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY h.created_at DESC, h.execution_id DESC
LIMIT :limit

-- name: list_executions_of_workflow
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM heads AS h
JOIN executions AS e ON e.execution_id = h.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE h.workflow = :workflow
    AND (h.created_at, h.execution_id) < (:after_at, :after_id)
    AND (:status IS NULL OR h.status IN (SELECT value FROM json_each(:status)))
    AND (:where IS NULL OR contains(e.input, :where))
    AND (:conditions IS NULL OR fulfils(e.input, :conditions))
ORDER BY h.created_at DESC, h.execution_id DESC
LIMIT :limit

-- name: list_paused_executions
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM heads AS h
JOIN executions AS e ON e.execution_id = h.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE h.paused_at IS NOT NULL
    AND (h.paused_at, h.execution_id) > (:after_at, :after_id)
ORDER BY h.paused_at, h.execution_id
LIMIT :limit

-- name: list_paused_executions_of_workflow
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM heads AS h
JOIN executions AS e ON e.execution_id = h.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE h.paused_at IS NOT NULL
    AND h.workflow = :workflow
    AND (h.paused_at, h.execution_id) > (:after_at, :after_id)
ORDER BY h.paused_at, h.execution_id
LIMIT :limit

-- name: point_by_id
SELECT id, execution_id, workflow, status, closed_at, body, schema FROM pause_points WHERE id = :point

-- name: list_points
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM pause_points
WHERE (opened_at, id) > (:after_at, :after_id)
    AND (:workflow IS NULL OR workflow = :workflow)
    AND (:kind IS NULL OR kind = :kind)
    AND (:status IS NULL OR status IN (SELECT value FROM json_each(:status)))
ORDER BY opened_at, id
LIMIT :limit

-- name: standings_of_executions
-- Few of the points of an execution are open, and those are among the newest. One statement reads them for a whole list: with
-- statements for each execution a list takes several times as long. Materialized, so that each part is read once.
WITH found AS MATERIALIZED (
    SELECT
        json_each.key AS place,
        (
            SELECT events.at FROM events WHERE events.execution_id = unhex(json_each.value) ORDER BY events.seq DESC LIMIT 1
        ) AS updated_at,
        (
            SELECT json_group_array(id ORDER BY kind NOT IN ('approval', 'form'), opened_at, id)
            FROM (
                SELECT id, kind, status, opened_at
                FROM pause_points
                WHERE execution_id = unhex(json_each.value)
                ORDER BY opened_at DESC, id DESC
                LIMIT 100
            )
            WHERE status = 'open'
        ) AS points
    FROM json_each(:ids)
)
SELECT
    found.place, found.updated_at, json_array_length(found.points) AS points,
    p.id, p.execution_id, p.workflow, p.status, p.closed_at, p.body, NULL AS schema
FROM found
LEFT JOIN pause_points AS p ON p.id = found.points ->> 0
WHERE found.updated_at IS NOT NULL

-- name: list_points_of_execution
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM pause_points
WHERE execution_id = :execution_id
    AND (opened_at, id) > (:after_at, :after_id)
    AND (:workflow IS NULL OR workflow = :workflow)
    AND (:kind IS NULL OR kind = :kind)
    AND (:status IS NULL OR status IN (SELECT value FROM json_each(:status)))
ORDER BY opened_at, id
LIMIT :limit

-- name: list_waiting_points
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM pause_points
WHERE status IN ('open', 'answered')
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
ORDER BY opened_at, id
LIMIT :limit

-- name: count_open_of_workflow
-- Executions that have not ended are few; of those with one status, :most are looked at.
SELECT count(*), coalesce(sum(workflow = :workflow), 0)
FROM (SELECT workflow FROM heads WHERE status = :status AND status <> 'completed' LIMIT :most)

-- name: resting_points_of_workflow
-- Bodies may be long: their beginning has the node.
SELECT substr(body, 1, :beginning), kind, opened_at
FROM pause_points
WHERE status IN ('open', 'answered') AND workflow = :workflow
LIMIT :most

-- name: list_waiting_points_of_workflow_and_kind
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = :kind
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
ORDER BY opened_at, id
LIMIT :limit

-- name: list_waiting_points_of_kind
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM pause_points
WHERE status IN ('open', 'answered')
    AND kind = :kind
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
ORDER BY opened_at, id
LIMIT :limit

-- name: list_waiting_points_of_workflow
-- The index holds points by kind. SQLite merges the lists of all kinds, no further than the page goes.
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'timer'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'approval'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'form'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'signal'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'callback'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'child'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
UNION ALL
SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
FROM pause_points
WHERE status IN ('open', 'answered')
    AND workflow = :workflow
    AND kind = 'delivery'
    AND (opened_at, id) > (:after_at, :after_id)
    AND status IN (SELECT value FROM json_each(:status))
ORDER BY opened_at, id
LIMIT :limit

-- name: count_executions
-- Most are completed: those are all but the others, which are counted in an index of their own.
SELECT status, count(*) FROM heads WHERE status <> 'completed' GROUP BY status
UNION ALL
SELECT
    'completed',
    (SELECT count(*) FROM executions) - (SELECT count(*) FROM heads WHERE status <> 'completed')
