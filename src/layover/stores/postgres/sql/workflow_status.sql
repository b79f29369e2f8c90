-- name: set_workflow_status
INSERT INTO layover.standings (
    workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by
)
VALUES (
    $1::text, $2::text, $3::bigint, $4::text, $5::text, $6::bigint, $7::text, $8::text, $9::text, $10::text
)
ON CONFLICT (workflow) DO UPDATE
SET state = excluded.state, changed_at = excluded.changed_at, reason = excluded.reason,
    changed_by = excluded.changed_by, due_at = excluded.due_at, resume_signal = excluded.resume_signal,
    resume_key = excluded.resume_key, resume_filter = excluded.resume_filter, resume_by = excluded.resume_by

-- name: list_workflow_statuses
SELECT workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
FROM layover.standings
ORDER BY workflow

-- name: workflow_statuses_by_name
SELECT workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
FROM layover.standings
WHERE workflow = ANY ($1::text[])
ORDER BY workflow

-- name: due_workflow_statuses
SELECT workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
FROM layover.standings
WHERE due_at IS NOT NULL AND due_at <= $1::bigint
ORDER BY due_at
LIMIT $2::bigint

-- name: lock_workflow_status
-- The status cannot change before the transaction ends.
SELECT workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
FROM layover.standings
WHERE workflow = $1::text
FOR SHARE

-- name: lock_workflow_status_to_change
SELECT workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
FROM layover.standings
WHERE workflow = $1::text
FOR UPDATE

-- name: set_breakpoint
INSERT INTO layover.standings (workflow, state, changed_at, reason, changed_by, breakpoints)
VALUES ($1::text, 'active', $4::bigint, '', '', jsonb_build_object($2::text, $3::text)::text)
ON CONFLICT (workflow) DO UPDATE
SET breakpoints = (standings.breakpoints::jsonb || jsonb_build_object($2::text, $3::text))::text

-- name: clear_breakpoint
UPDATE layover.standings SET breakpoints = (breakpoints::jsonb - $2::text)::text WHERE workflow = $1::text

-- name: read_breakpoints
SELECT workflow, breakpoints FROM layover.standings WHERE breakpoints <> '{}'
