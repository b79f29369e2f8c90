-- Statements are planned once, for any values, and often before their tables have statistics. Comments in the lists say
-- what keeps each on its index then.

-- name: heads_by_id
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at
FROM unnest($1::uuid[]) AS w (execution_id)
JOIN layover.heads AS h ON h.execution_id = w.execution_id

-- name: execution_by_id
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.executions AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE e.execution_id = $1::uuid

-- name: load_executions
-- Head, snapshot and entries in one statement: between two, the log could grow or be purged.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count,
    s.body, l.seqs, l.moments, l.counts, l.bodies
FROM unnest($1::uuid[]) WITH ORDINALITY AS w (execution_id, place)
JOIN layover.heads AS h ON h.execution_id = w.execution_id
JOIN layover.executions AS e ON e.execution_id = w.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
LEFT JOIN layover.snapshots AS s ON s.execution_id = w.execution_id
CROSS JOIN LATERAL (
    SELECT
        array_agg(o.seq) AS seqs, array_agg(o.at) AS moments, array_agg(o.count) AS counts, array_agg(o.body) AS bodies
    FROM (
        SELECT n.seq, n.at, n.count, n.body
        FROM layover.events AS n
        WHERE n.execution_id = h.execution_id
            AND n.era = floor(h.created_at / 604800000.0::double precision)::integer
            AND n.seq > coalesce(s.seq, -1)
        ORDER BY n.seq
    ) AS o
) AS l
ORDER BY w.place

-- name: inputs_of_executions
SELECT execution_id, input::text
FROM layover.executions
WHERE execution_id = ANY ($1::uuid[]) AND input IS NOT NULL

-- name: history
-- From the entry that holds an event, which may begin before it.
WITH log AS MATERIALIZED (
    SELECT floor(h.created_at / 604800000.0::double precision)::integer AS era
    FROM layover.heads AS h
    WHERE h.execution_id = $1::uuid
)
SELECT seq, at, count, body
FROM layover.events
WHERE execution_id = $1
    AND era = (SELECT era FROM log)
    AND seq >= coalesce(
        (
            SELECT max(seq)
            FROM layover.events
            WHERE execution_id = $1 AND era = (SELECT era FROM log) AND seq <= $2::bigint
        ),
        0
    )
    AND seq + count > $2
ORDER BY seq
LIMIT $3::bigint

-- name: entries_with_events
-- What several callers ask for at once: of each log, the entry that holds an event.
SELECT w.place, e.seq, e.at, e.count, e.body
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS w (execution_id, seq, place)
JOIN layover.heads AS h ON h.execution_id = w.execution_id
CROSS JOIN LATERAL (
    SELECT o.seq, o.at, o.count, o.body
    FROM layover.events AS o
    WHERE o.execution_id = w.execution_id
        AND o.era = floor(h.created_at / 604800000.0::double precision)::integer
        AND o.seq <= greatest(w.seq, 0)
    ORDER BY o.seq DESC
    LIMIT 1
) AS e
WHERE e.seq + e.count > w.seq

-- name: list_executions
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.executions AS e
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.heads
    WHERE execution_id = e.execution_id
    OFFSET 0 -- looked up row by row in the order of the index, also before the table has statistics
) AS h
JOIN layover.versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < ($3::bigint, $4::uuid)
    AND ($1::text[] IS NULL OR h.status = ANY($1))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $2::bigint

-- name: list_executions_of_parent
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.executions AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE e.parent_id = $6::uuid
    AND (e.created_at, e.execution_id) < ($3::bigint, $4::uuid)
    AND ($5::text IS NULL OR h.workflow = $5)
    AND ($1::text[] IS NULL OR h.status = ANY($1))
    AND ($7::text IS NULL OR e.tags @> ARRAY[$7])
    AND ($8::jsonb IS NULL OR e.input @> $8)
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $2::bigint

-- name: list_executions_of_tag
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT *
    FROM layover.executions
    WHERE tags @> ARRAY[$6::text]
    OFFSET 0 -- planned by itself: for a rare tag, the index by age would be read to its end
) AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < ($3::bigint, $4::uuid)
    AND ($5::text IS NULL OR h.workflow = $5)
    AND ($1::text[] IS NULL OR h.status = ANY($1))
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $2::bigint

-- name: list_executions_of_input
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT *
    FROM layover.executions
    WHERE input @> $6::jsonb
    ORDER BY created_at DESC, execution_id DESC -- before heads are looked up: only one page of them is needed
    OFFSET 0 -- planned by itself: for a rare input, the index by age would be read to its end
) AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE (e.created_at, e.execution_id) < ($3::bigint, $4::uuid)
    AND ($5::text IS NULL OR h.workflow = $5)
    AND ($1::text[] IS NULL OR h.status = ANY($1))
    AND ($7::text IS NULL OR e.tags @> ARRAY[$7])
ORDER BY e.created_at DESC, e.execution_id DESC
LIMIT $2::bigint

-- name: list_executions_of_status
-- Completed executions are most of all, and are not in this index.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT found.*
    FROM unnest($1::text[]) AS s (status)
    CROSS JOIN LATERAL (
        SELECT *
        FROM layover.heads
        WHERE status <> 'completed'
            -- All columns of the index, so that no other index fits, however old the statistics are.
            AND (status, created_at, execution_id) < (s.status, $3::bigint, $4::uuid)
            AND status >= s.status
            -- The planner expects a CASE to keep half of the rows. Without statistics it expects an OR to keep
            -- hardly any, and would read and sort them all.
            AND CASE WHEN $5::text IS NULL THEN TRUE ELSE workflow = $5 END
        ORDER BY status DESC, created_at DESC, execution_id DESC
        LIMIT $2::bigint -- of each status
    ) AS found
    ORDER BY found.created_at DESC, found.execution_id DESC
    LIMIT $2::bigint
) AS h
JOIN layover.executions AS e ON e.execution_id = h.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
ORDER BY h.created_at DESC, h.execution_id DESC

-- name: list_executions_of_workflow
-- Merges the lists of all versions: an execution names its version, which never changes.
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM (
    SELECT found.*
    FROM layover.versions AS n
    CROSS JOIN LATERAL ( -- of each version
        SELECT x.*
        FROM layover.executions AS x
        CROSS JOIN LATERAL (
            SELECT status
            FROM layover.heads
            WHERE execution_id = x.execution_id
            OFFSET 0 -- looked up row by row in the order of the index, also before the table has statistics
        ) AS now
        -- All columns of the index, so that no other index fits, however old the statistics are.
        WHERE (x.version_id, x.created_at, x.execution_id) < (n.id, $3::bigint, $4::uuid)
            AND x.version_id >= n.id
            -- The planner expects a CASE to keep half of the rows. Without statistics it expects an OR to keep
            -- hardly any, and would read and sort them all.
            AND CASE WHEN $1::text[] IS NULL THEN TRUE ELSE now.status = ANY($1) END
        ORDER BY x.version_id DESC, x.created_at DESC, x.execution_id DESC
        LIMIT $2::bigint
    ) AS found
    WHERE n.workflow = $5::text
    ORDER BY found.created_at DESC, found.execution_id DESC
    LIMIT $2::bigint
) AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
ORDER BY e.created_at DESC, e.execution_id DESC

-- name: list_paused_executions
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.heads AS h
JOIN layover.executions AS e ON e.execution_id = h.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE h.status = 'paused'
    AND (coalesce(h.paused_at, h.created_at), h.execution_id) > ($2::bigint, $3::uuid)
ORDER BY coalesce(h.paused_at, h.created_at), h.execution_id
LIMIT $1::bigint

-- name: list_paused_executions_of_workflow
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.heads AS h
JOIN layover.executions AS e ON e.execution_id = h.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE h.status = 'paused'
    -- All columns of the index, so that no other index fits, however old the statistics are.
    AND (h.workflow, coalesce(h.paused_at, h.created_at), h.execution_id) > ($4::text, $2::bigint, $3::uuid)
    AND h.workflow <= $4::text
ORDER BY h.workflow, coalesce(h.paused_at, h.created_at), h.execution_id
LIMIT $1::bigint

-- name: count_open_of_workflow
-- Executions that have not ended are few; of those with one status, $2 are looked at.
SELECT statuses.status, counted.looked_at, counted.fit
FROM unnest($3::text[]) AS statuses (status)
CROSS JOIN LATERAL (
    SELECT count(*) AS looked_at, count(*) FILTER (WHERE s.workflow = $1::text) AS fit
    FROM (
        SELECT h.workflow
        FROM layover.heads AS h
        WHERE h.status = statuses.status AND h.status <> 'completed'
        LIMIT $2::bigint
    ) AS s
) AS counted

-- name: resting_points_of_workflow
-- Bodies may be long: their beginning has the node.
SELECT substring(body FROM 1 FOR $3::integer) AS beginning, kind, opened_at
FROM layover.pause_points
WHERE status IN ('open', 'answered') AND workflow = $1::text
ORDER BY workflow, kind, opened_at, id
LIMIT $2::bigint

-- name: points_by_id
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM layover.pause_points
WHERE id = ANY($1::text[])

-- name: list_points
SELECT p.id, p.execution_id, p.workflow, p.status, p.closed_at, p.body, p.schema
FROM layover.pause_points AS p
CROSS JOIN LATERAL (
    SELECT
    WHERE ($1::text IS NULL OR p.workflow = $1)
        AND ($2::text IS NULL OR p.kind = $2)
        AND ($3::text[] IS NULL OR p.status = ANY($3))
    OFFSET 0 -- checked row by row in the order of the index, also before the table has statistics
) AS wanted
WHERE (p.opened_at, p.id) > ($5::bigint, $6::text)
ORDER BY p.opened_at, p.id
LIMIT $4::bigint

-- name: list_points_of_executions
-- What several callers ask for at once, each with a filter of its own.
SELECT w.place, p.id, p.execution_id, p.workflow, p.status, p.closed_at, p.body, p.schema
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
    WITH ORDINALITY AS w (execution_id, workflow, kind, statuses, most, after_at, after_id, place)
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.pause_points AS o
    WHERE o.execution_id = w.execution_id
        AND (o.opened_at, o.id) > (w.after_at, w.after_id)
        AND (w.workflow IS NULL OR o.workflow = w.workflow)
        AND (w.kind IS NULL OR o.kind = w.kind)
        AND (w.statuses IS NULL OR o.status = ANY(string_to_array(w.statuses, ' ')))
    ORDER BY o.opened_at, o.id
    LIMIT w.most
) AS p
ORDER BY w.place, p.opened_at, p.id

-- name: standings_of_executions
-- Few of the points of an execution are open, and those are among the newest.
SELECT w.place, e.at, p.points, p.id, p.execution_id, p.workflow, p.status, p.closed_at, p.body, NULL::bytea AS schema
FROM unnest($1::uuid[]) WITH ORDINALITY AS w (execution_id, place)
JOIN layover.heads AS h ON h.execution_id = w.execution_id
CROSS JOIN LATERAL (
    SELECT o.at
    FROM layover.events AS o
    WHERE o.execution_id = w.execution_id
        AND o.era = floor(h.created_at / 604800000.0::double precision)::integer
    ORDER BY o.seq DESC
    LIMIT 1
) AS e
LEFT JOIN LATERAL (
    SELECT n.*, count(*) OVER () AS points
    FROM (
        SELECT *
        FROM layover.pause_points AS o
        WHERE o.execution_id = w.execution_id
        ORDER BY o.opened_at DESC, o.id DESC
        LIMIT 100
    ) AS n
    WHERE n.status = 'open'
    ORDER BY n.kind NOT IN ('approval', 'form'), n.opened_at, n.id
    LIMIT 1
) AS p ON true

-- name: list_waiting_points
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM layover.pause_points
WHERE status IN ('open', 'answered')
    AND (opened_at, id) > ($3::bigint, $4::text)
    -- The planner expects a CASE to keep half of the rows. Without statistics it expects a comparison to keep
    -- hardly any, and would read and sort them all.
    AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
ORDER BY opened_at, id
LIMIT $2::bigint

-- name: list_waiting_points_of_workflow_and_kind
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM layover.pause_points
WHERE status IN ('open', 'answered')
    -- All columns of the index, so that no other index fits, however old the statistics are.
    AND (workflow, kind, opened_at, id) > ($5::text, $6::text, $3::bigint, $4::text)
    AND (workflow, kind) <= ($5::text, $6::text)
    -- The planner expects a CASE to keep half of the rows. Without statistics it expects a comparison to keep
    -- hardly any, and would read and sort them all.
    AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
ORDER BY workflow, kind, opened_at, id
LIMIT $2::bigint

-- name: list_waiting_points_of_kind
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM layover.pause_points
WHERE status IN ('open', 'answered')
    -- All columns of the index, so that no other index fits, however old the statistics are.
    AND (kind, opened_at, id) > ($5::text, $3::bigint, $4::text)
    AND kind <= $5::text
    -- The planner expects a CASE to keep half of the rows. Without statistics it expects a comparison to keep
    -- hardly any, and would read and sort them all.
    AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
ORDER BY kind, opened_at, id
LIMIT $2::bigint

-- name: list_waiting_points_of_workflow
-- The index holds points by kind, so the lists of all kinds are merged.
SELECT p.id, p.execution_id, p.workflow, p.status, p.closed_at, p.body, p.schema
FROM unnest($6::text[]) AS k (kind)
CROSS JOIN LATERAL (
    SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
    FROM layover.pause_points
    WHERE status IN ('open', 'answered')
        -- All columns of the index, so that no other index fits, however old the statistics are.
        AND (workflow, kind, opened_at, id) > ($5::text, k.kind, $3::bigint, $4::text)
        AND (workflow, kind) <= ($5::text, k.kind)
        -- The planner expects a CASE to keep half of the rows. Without statistics it expects a comparison to keep
        -- hardly any, and would read and sort them all.
        AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
    ORDER BY workflow, kind, opened_at, id
    LIMIT $2::bigint -- of each kind
) AS p
ORDER BY p.opened_at, p.id
LIMIT $2::bigint

-- name: count_executions
-- Most are completed: those are all but the others, which are counted in an index of their own.
SELECT status, count(*) FROM layover.heads WHERE status <> 'completed' GROUP BY status
UNION ALL
SELECT
    'completed',
    (SELECT count(*) FROM layover.executions) - (SELECT count(*) FROM layover.heads WHERE status <> 'completed')
