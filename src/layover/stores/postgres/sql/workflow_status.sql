-- name: set_workflow_status
INSERT INTO layover.standings (workflow, state, changed_at, reason, changed_by)
VALUES ($1::text, $2::text, $3::bigint, $4::text, $5::text)
ON CONFLICT (workflow) DO UPDATE
SET state = excluded.state, changed_at = excluded.changed_at, reason = excluded.reason, changed_by = excluded.changed_by

-- name: list_workflow_statuses
SELECT workflow, state, changed_at, reason, changed_by FROM layover.standings ORDER BY workflow

-- name: workflow_statuses_by_name
SELECT workflow, state, changed_at, reason, changed_by
FROM layover.standings
WHERE workflow = ANY ($1::text[])
ORDER BY workflow

-- name: lock_workflow_status
-- The status cannot change before the transaction ends.
SELECT workflow, state, changed_at, reason, changed_by FROM layover.standings WHERE workflow = $1::text FOR SHARE
