-- name: due_heads
-- Of those that have waited longest, a point of priority is worth a second: so nothing waits forever.
SELECT
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at
FROM (
    SELECT
        execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq,
        commands_done, takeovers, missing, missing_since, paused_at
    FROM heads
    WHERE wake_at <= :now
    ORDER BY wake_at, execution_id
    LIMIT 4 * :most
)
ORDER BY wake_at - 1000 * priority, execution_id
LIMIT :most

-- name: awaited_functions
-- Jumps from one value to the next in the index, since many heads wait for the same functions.
WITH RECURSIVE found (missing) AS (
    SELECT (SELECT min(missing) FROM heads WHERE missing IS NOT NULL)
    UNION ALL
    SELECT (SELECT min(missing) FROM heads WHERE missing > found.missing) FROM found WHERE found.missing IS NOT NULL
)
SELECT missing FROM found WHERE missing IS NOT NULL

-- name: heads_awaiting_functions
SELECT
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at
FROM heads
WHERE missing = :missing AND owner IS NULL AND (wake_at IS NULL OR wake_at > :now)
ORDER BY missing_since, execution_id
LIMIT :most

-- name: claim_heads
UPDATE heads SET owner = ?, epoch = epoch + 1, wake_at = ?, takeovers = takeovers + ? WHERE execution_id = ?

-- name: next_due_at
SELECT min(wake_at) FROM heads WHERE wake_at > :now

-- name: renew_leases
-- A renewal that was overtaken by a later one must not shorten the lease.
UPDATE heads SET wake_at = max(coalesce(wake_at, 0), :until) WHERE execution_id = :id AND owner = :owner AND epoch = :epoch

-- name: release_leases
-- Unread commands make the execution due at once, unless it is held back.
UPDATE heads
SET owner = NULL, takeovers = :takeovers,
    wake_at = CASE WHEN commands_seq > commands_done AND :held_at IS NULL THEN 0 ELSE :wake_at END,
    missing = :missing, missing_since = CASE WHEN :missing IS NOT NULL THEN coalesce(missing_since, :held_at, :wake_at) END
WHERE execution_id = :id AND owner = :owner AND epoch = :epoch

-- name: expire_leases
-- The leases of an instance that is known to be dead.
UPDATE heads SET wake_at = :now WHERE owner = :owner AND wake_at > :now
