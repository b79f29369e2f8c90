-- Each count goes along an index, and stops at :most.

-- name: count_open
SELECT
    json_each.value,
    (
        SELECT count(*)
        FROM (SELECT 1 FROM heads WHERE status = json_each.value AND status <> 'completed' LIMIT :most)
    )
FROM json_each('["pending", "running", "pausing", "waiting", "paused"]')

-- name: count_paused
-- The workflows are found one after the other, without going through what is paused of each.
WITH RECURSIVE found (workflow) AS (
    SELECT (SELECT workflow FROM heads WHERE paused_at IS NOT NULL AND workflow > '' ORDER BY workflow LIMIT 1)
    UNION ALL
    SELECT (
        SELECT workflow
        FROM heads
        WHERE paused_at IS NOT NULL AND workflow > found.workflow
        ORDER BY workflow
        LIMIT 1
    )
    FROM found
    WHERE found.workflow IS NOT NULL
    LIMIT :names
)

SELECT
    found.workflow,
    (
        SELECT count(*)
        FROM (SELECT 1 FROM heads AS h WHERE h.workflow = found.workflow AND h.paused_at IS NOT NULL LIMIT :most)
    )
FROM found
WHERE found.workflow IS NOT NULL

-- name: count_paused_before
SELECT count(*) FROM (SELECT 1 FROM heads WHERE paused_at < :before LIMIT :most)

-- name: first_paused
SELECT min(paused_at) FROM heads WHERE paused_at IS NOT NULL

-- name: count_due
SELECT count(*), min(wake_at)
FROM (SELECT wake_at FROM heads WHERE wake_at <= :now ORDER BY wake_at LIMIT :most)

-- name: count_commands
SELECT coalesce(sum(unread), 0)
FROM (SELECT commands_seq - commands_done AS unread FROM heads WHERE wake_at <= :now ORDER BY wake_at LIMIT :some)

-- name: count_messages
SELECT count(*), min(due_at) FROM (SELECT due_at FROM outbox ORDER BY due_at LIMIT :most)

-- name: count_trigger_states
SELECT
    json_each.value,
    (SELECT count(*) FROM (SELECT 1 FROM triggers WHERE state = json_each.value LIMIT :most))
FROM json_each('["initialized", "active", "paused", "stopped", "error"]')

-- name: count_pending_of_triggers
-- The triggers are found one after the other, as the workflows above.
WITH RECURSIVE found (id) AS (
    SELECT (SELECT trigger_id FROM trigger_inputs WHERE state = 'pending' AND trigger_id > x'' ORDER BY trigger_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT trigger_id
        FROM trigger_inputs
        WHERE state = 'pending' AND trigger_id > found.id
        ORDER BY trigger_id
        LIMIT 1
    )
    FROM found
    WHERE found.id IS NOT NULL
    LIMIT :names
)

SELECT
    (SELECT t.workflow || '/' || t.name FROM triggers AS t WHERE t.id = found.id),
    (
        SELECT count(*)
        FROM (SELECT 1 FROM trigger_inputs AS i WHERE i.trigger_id = found.id AND i.state = 'pending' LIMIT :most)
    )
FROM found
WHERE found.id IS NOT NULL
