-- name: set_workflow_status
INSERT INTO standings (
    workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by
)
VALUES (
    :workflow, :state, :changed_at, :reason, :by, :due_at, :resume_signal, :resume_key, :resume_filter, :resume_by
)
ON CONFLICT (workflow) DO UPDATE
SET state = excluded.state, changed_at = excluded.changed_at, reason = excluded.reason,
    changed_by = excluded.changed_by, due_at = excluded.due_at, resume_signal = excluded.resume_signal,
    resume_key = excluded.resume_key, resume_filter = excluded.resume_filter, resume_by = excluded.resume_by

-- name: revive_workflow
-- A deleted workflow that is saved again is active again.
UPDATE standings SET state = 'active', changed_at = :now, reason = '', changed_by = :by
WHERE workflow = :workflow AND state = 'deleted'

-- name: list_workflow_statuses
SELECT workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
FROM standings
ORDER BY workflow

-- name: workflow_statuses_by_name
SELECT workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
FROM standings
WHERE workflow IN (SELECT value FROM json_each(:workflows))
ORDER BY workflow

-- name: due_workflow_statuses
SELECT workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
FROM standings
WHERE due_at IS NOT NULL AND due_at <= :now
ORDER BY due_at
LIMIT :most

-- name: set_breakpoint
INSERT INTO standings (workflow, state, changed_at, reason, changed_by, breakpoints)
VALUES (:workflow, 'active', :now, '', '', json_object(:node, :reason))
ON CONFLICT (workflow) DO UPDATE
SET breakpoints = json_patch(breakpoints, json_object(:node, :reason))

-- name: clear_breakpoint
UPDATE standings SET breakpoints = json_patch(breakpoints, json_object(:node, NULL)) WHERE workflow = :workflow

-- name: read_breakpoints
SELECT workflow, breakpoints FROM standings WHERE breakpoints <> '{}'
