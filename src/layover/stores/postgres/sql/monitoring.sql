-- What operators ask about all executions. Each goes along an index, and stops at a bound.

-- name: owners_of_leases
SELECT h.owner
FROM layover.heads AS h
WHERE h.wake_at <= $1::bigint AND h.owner IS NOT NULL
ORDER BY h.wake_at DESC
LIMIT $2::bigint

-- name: list_timers
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at
FROM layover.heads AS h
WHERE h.wake_at >= $2::bigint AND (h.wake_at, h.execution_id) > ($2::bigint, $3::uuid) AND h.owner IS NULL
ORDER BY h.wake_at, h.execution_id
LIMIT $1::bigint

-- name: count_started
SELECT s.counted
FROM unnest($1::bigint[]) WITH ORDINALITY AS b (start, place)
CROSS JOIN LATERAL (
    SELECT count(*) AS counted
    FROM (
        SELECT 1
        FROM layover.executions AS e
        WHERE e.created_at >= b.start AND e.created_at < b.start + $2::bigint
        ORDER BY e.created_at
        LIMIT $3::bigint
    ) AS cut
) AS s
ORDER BY b.place

-- name: count_finished
SELECT s.counted, s.failed, s.took
FROM unnest($1::bigint[]) WITH ORDINALITY AS b (start, place)
CROSS JOIN LATERAL (
    SELECT
        count(*) AS counted,
        count(*) FILTER (WHERE cut.error_code <> '') AS failed,
        coalesce(sum(cut.took), 0)::bigint AS took
    FROM (
        SELECT e.error_code, e.finished_at - e.created_at AS took
        FROM layover.executions AS e
        WHERE e.finished_at >= b.start AND e.finished_at < b.start + $2::bigint
        ORDER BY e.finished_at
        LIMIT $3::bigint
    ) AS cut
) AS s
ORDER BY b.place

-- name: count_asked
SELECT s.counted, s.answered, s.waited, s.longest
FROM unnest($1::bigint[]) WITH ORDINALITY AS b (start, place)
CROSS JOIN LATERAL (
    SELECT
        count(*) AS counted,
        count(cut.closed_at) AS answered,
        coalesce(sum(cut.closed_at - cut.opened_at), 0)::bigint AS waited,
        coalesce(max(cut.closed_at - cut.opened_at), 0) AS longest
    FROM (
        SELECT p.kind, p.opened_at, p.closed_at
        FROM layover.pause_points AS p
        WHERE p.opened_at >= b.start AND p.opened_at < b.start + $2::bigint
        ORDER BY p.opened_at
        LIMIT $3::bigint
    ) AS cut
    WHERE cut.kind IN ('approval', 'form')
) AS s
ORDER BY b.place
