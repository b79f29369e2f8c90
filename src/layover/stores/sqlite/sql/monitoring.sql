-- What operators ask about all executions. Each goes along an index, and stops at :most.

-- name: owners_of_leases
SELECT owner FROM heads WHERE wake_at <= :until AND owner IS NOT NULL ORDER BY wake_at DESC LIMIT :most

-- name: list_timers
SELECT
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at
FROM heads
WHERE wake_at >= :after_at AND (wake_at, execution_id) > (:after_at, :after_id) AND owner IS NULL
ORDER BY wake_at, execution_id
LIMIT :limit

-- name: count_started
SELECT count(*) FROM (SELECT 1 FROM executions WHERE created_at >= :start AND created_at < :stop LIMIT :most)

-- name: count_finished
SELECT count(*), coalesce(sum(coalesce(error_code, '') <> ''), 0), coalesce(sum(took), 0)
FROM (
    SELECT error_code, finished_at - created_at AS took
    FROM executions
    WHERE finished_at >= :start AND finished_at < :stop
    LIMIT :most
)

-- name: count_asked
SELECT
    count(*),
    coalesce(sum(closed_at IS NOT NULL), 0),
    coalesce(sum(closed_at - opened_at), 0),
    coalesce(max(closed_at - opened_at), 0)
FROM (
    SELECT kind, opened_at, closed_at
    FROM pause_points
    WHERE opened_at >= :start AND opened_at < :stop
    ORDER BY opened_at
    LIMIT :most
)
WHERE kind IN ('approval', 'form')
