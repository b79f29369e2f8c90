-- Each count goes along an index, and stops at $1.

-- name: count_open
SELECT statuses.status, counted.executions
FROM unnest(ARRAY['pending', 'running', 'pausing', 'waiting', 'paused']) AS statuses (status)
CROSS JOIN LATERAL (
    SELECT count(*) AS executions
    FROM (
        SELECT 1
        FROM layover.heads AS h
        WHERE h.status = statuses.status AND h.status <> 'completed'
        LIMIT $1::bigint
    ) AS s
) AS counted

-- name: count_paused
-- The workflows are found one after the other, without going through what is paused of each.
WITH RECURSIVE found (workflow, n) AS (
    SELECT
        (
            SELECT h.workflow
            FROM layover.heads AS h
            WHERE h.status = 'paused' AND h.workflow > ''
            ORDER BY h.workflow
            LIMIT 1
        ),
        1
    UNION ALL
    SELECT
        (
            SELECT h.workflow
            FROM layover.heads AS h
            WHERE h.status = 'paused' AND h.workflow > found.workflow
            ORDER BY h.workflow
            LIMIT 1
        ),
        found.n + 1
    FROM found
    WHERE found.workflow IS NOT NULL AND found.n < $2::bigint
)

SELECT found.workflow, counted.executions
FROM found
CROSS JOIN LATERAL (
    SELECT count(*) AS executions
    FROM (
        SELECT 1
        FROM layover.heads AS h
        WHERE h.status = 'paused' AND h.workflow = found.workflow
        LIMIT $1::bigint
    ) AS s
) AS counted
WHERE found.workflow IS NOT NULL

-- name: count_paused_before
SELECT count(*)
FROM (
    SELECT 1
    FROM layover.heads AS h
    WHERE h.status = 'paused' AND coalesce(h.paused_at, h.created_at) < $2::bigint
    LIMIT $1::bigint
) AS s

-- name: first_paused
SELECT coalesce(h.paused_at, h.created_at)
FROM layover.heads AS h
WHERE h.status = 'paused' AND coalesce(h.paused_at, h.created_at) <= $1::bigint
ORDER BY coalesce(h.paused_at, h.created_at)
LIMIT 1

-- name: count_due
SELECT count(*) AS due, min(s.wake_at) AS oldest
FROM (
    SELECT h.wake_at FROM layover.heads AS h WHERE h.wake_at <= $2::bigint ORDER BY h.wake_at LIMIT $1::bigint
) AS s

-- name: count_commands
SELECT coalesce(sum(s.unread), 0)::bigint
FROM (
    SELECT h.commands_seq - h.commands_done AS unread
    FROM layover.heads AS h
    WHERE h.wake_at <= $2::bigint
    ORDER BY h.wake_at
    LIMIT $1::bigint
) AS s

-- name: count_messages
SELECT count(*) AS messages, min(s.due_at) AS oldest
FROM (SELECT o.due_at FROM layover.outbox AS o ORDER BY o.due_at LIMIT $1::bigint) AS s

-- name: count_trigger_states
SELECT states.state, counted.triggers
FROM unnest(ARRAY['initialized', 'active', 'paused', 'stopped', 'error']) AS states (state)
CROSS JOIN LATERAL (
    SELECT count(*) AS triggers
    FROM (SELECT 1 FROM layover.triggers AS t WHERE t.state = states.state LIMIT $1::bigint) AS s
) AS counted

-- name: count_pending_of_triggers
-- The triggers are found one after the other, as the workflows above.
WITH RECURSIVE found (id, n) AS (
    SELECT
        (
            SELECT i.trigger_id
            FROM layover.trigger_inputs AS i
            WHERE i.state = 'pending' AND i.trigger_id > '00000000-0000-0000-0000-000000000000'
            ORDER BY i.trigger_id
            LIMIT 1
        ),
        1
    UNION ALL
    SELECT
        (
            SELECT i.trigger_id
            FROM layover.trigger_inputs AS i
            WHERE i.state = 'pending' AND i.trigger_id > found.id
            ORDER BY i.trigger_id
            LIMIT 1
        ),
        found.n + 1
    FROM found
    WHERE found.id IS NOT NULL AND found.n < $2::bigint
)

SELECT
    (SELECT t.workflow || '/' || t.name FROM layover.triggers AS t WHERE t.id = found.id) AS trigger, counted.inputs
FROM found
CROSS JOIN LATERAL (
    SELECT count(*) AS inputs
    FROM (
        SELECT 1
        FROM layover.trigger_inputs AS i
        WHERE i.state = 'pending' AND i.trigger_id = found.id
        LIMIT $1::bigint
    ) AS s
) AS counted
WHERE found.id IS NOT NULL
