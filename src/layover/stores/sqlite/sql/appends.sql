-- The hot path. Values are bound by position, in the order in which their names first appear: that is a quarter faster.

-- name: append
-- Compares and moves the head in one statement; when no row changes, the append was fenced or uninformed.
UPDATE heads
SET last_seq = :last_seq, last_epoch = :epoch, status = :status, commands_done = :seen, takeovers = 0,
    paused_at = CASE WHEN :status = 'paused' THEN CASE WHEN status = 'paused' THEN paused_at ELSE :at END END,
    unindexed = CASE WHEN :status = 'running' THEN unindexed ELSE 1 END
WHERE execution_id = :id AND owner = :owner AND epoch = :epoch AND last_seq = :expected AND commands_seq = :seen

-- name: append_keeping_status
-- Most appends keep the status, which is `running`. A statement that sets it would rewrite it in every index that holds
-- it, and running executions are searched without the search index.
UPDATE heads
SET last_seq = :last_seq, last_epoch = :epoch, commands_done = :seen, takeovers = 0
WHERE execution_id = :id AND owner = :owner AND epoch = :epoch AND last_seq = :expected AND commands_seq = :seen
    AND status = :status

-- name: append_and_rest
-- The append that also releases the lease.
UPDATE heads
SET last_seq = :last_seq, last_epoch = :epoch, status = :status, commands_done = :seen, takeovers = 0,
    paused_at = CASE
        WHEN :status = 'paused' THEN coalesce(:since, CASE WHEN status = 'paused' THEN paused_at ELSE :at END)
    END,
    owner = NULL, wake_at = :wake_at, missing = NULL, missing_since = NULL, unindexed = 1
WHERE execution_id = :id AND owner = :owner AND epoch = :epoch AND last_seq = :expected AND commands_seq = :seen

-- name: append_and_wait_for_functions
-- The append that also releases the lease until an instance has the missing functions.
UPDATE heads
SET last_seq = :last_seq, last_epoch = :epoch, status = :status, commands_done = :seen, takeovers = 0,
    paused_at = CASE
        WHEN :status = 'paused' THEN coalesce(:since, CASE WHEN status = 'paused' THEN paused_at ELSE :at END)
    END,
    owner = NULL, wake_at = :wake_at, missing = :missing, missing_since = coalesce(missing_since, :at),
    unindexed = 1
WHERE execution_id = :id AND owner = :owner AND epoch = :epoch AND last_seq = :expected AND commands_seq = :seen

-- name: set_takeovers
-- After an append without progress: the count of takeovers that it has reset is put back.
UPDATE heads SET takeovers = :takeovers WHERE execution_id = :id

-- name: create_head
INSERT INTO heads (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, paused_at, created_at, unindexed
)
VALUES (
    :id, :workflow, :status, :priority, :last_seq, :epoch, :epoch, :owner, :wake_at, 0, 0, 0, :paused_at, :created_at,
    :owner IS NULL OR :status <> 'running'
)
ON CONFLICT DO NOTHING

-- name: create_execution
-- Inserts nothing when the workflow has no such version.
INSERT INTO executions (execution_id, version_id, created_at, user, parent_id, correlation_id, tags, input)
SELECT :id, id, :created_at, :user, :parent_id, :correlation_id, :tags, :input
FROM versions
WHERE hash = :hash AND workflow = :workflow
ORDER BY number
LIMIT 1

-- name: set_missing_functions
UPDATE heads SET missing = :missing, missing_since = :since WHERE execution_id = :id

-- name: insert_tags
INSERT INTO tags (tag, created_at, execution_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING

-- name: insert_entries
INSERT INTO events (execution_id, seq, count, at, body) VALUES (?, ?, ?, ?, ?)

-- name: save_snapshot
INSERT INTO snapshots (execution_id, seq, body) VALUES (:id, :seq, :body)
ON CONFLICT (execution_id) DO UPDATE SET seq = excluded.seq, body = excluded.body

-- name: finish_execution
UPDATE executions SET finished_at = :at, outcome = :outcome, error_code = :error_code WHERE execution_id = :id

-- name: reopen_execution
UPDATE executions SET finished_at = NULL, outcome = NULL, error_code = NULL
WHERE execution_id = :id AND finished_at IS NOT NULL

-- name: set_resume_count
UPDATE executions SET resume_count = :resume_count WHERE execution_id = :id

-- name: set_version
UPDATE executions
SET version_id = (
    SELECT id
    FROM versions
    WHERE hash = :hash AND workflow = (SELECT workflow FROM heads WHERE execution_id = :id)
    ORDER BY number
    LIMIT 1
)
WHERE execution_id = :id

-- name: open_point
-- Inserts nothing when the point exists, which is an error of the caller.
INSERT INTO pause_points (id, execution_id, workflow, kind, status, opened_at, body, schema)
SELECT :point, execution_id, workflow, :kind, :status, :opened_at, :body, :schema
FROM heads
WHERE execution_id = :id
ON CONFLICT DO NOTHING

-- name: change_point
UPDATE pause_points SET status = :status, body = :body WHERE id = :point

-- name: close_point
UPDATE pause_points SET status = :how, closed_at = :at WHERE id = :point
