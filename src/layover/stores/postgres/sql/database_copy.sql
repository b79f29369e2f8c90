-- Whole executions, read from one database and written to another. A row that exists is an error.

-- name: execution_sizes
SELECT
    h.execution_id,
    (
        SELECT coalesce(sum(octet_length(n.body)), 0)
        FROM layover.events AS n
        WHERE n.execution_id = h.execution_id
            AND n.era = floor(h.created_at / 604800000.0::double precision)::integer
    )
    + (SELECT coalesce(sum(octet_length(c.body)), 0) FROM layover.commands AS c WHERE c.execution_id = h.execution_id)
    + (
        SELECT coalesce(sum(octet_length(p.body)), 0)
        FROM layover.pause_points AS p
        WHERE p.execution_id = h.execution_id
    )
    + (SELECT coalesce(sum(octet_length(o.body)), 0) FROM layover.outbox AS o WHERE o.sender = h.execution_id)
    + (SELECT coalesce(sum(octet_length(n.body)), 0) FROM layover.node_logs AS n WHERE n.execution_id = h.execution_id)
    + coalesce((SELECT octet_length(s.body) FROM layover.snapshots AS s WHERE s.execution_id = h.execution_id), 0)
FROM layover.heads AS h
WHERE h.execution_id >= $1::uuid
ORDER BY h.execution_id
LIMIT $2::bigint

-- name: executions_by_id
SELECT
    h.execution_id, h.workflow, h.status, h.priority, h.last_seq, h.last_epoch, h.epoch, h.owner, h.wake_at,
    h.commands_seq, h.commands_done, h.takeovers, h.missing, h.missing_since, h.paused_at,
    v.workflow, v.hash, e.created_at, h.priority, e."user", e.parent_id, e.correlation_id, e.tags,
    e.finished_at, e.outcome, e.error_code, v.number, e.resume_count
FROM layover.executions AS e
JOIN layover.heads AS h ON h.execution_id = e.execution_id
JOIN layover.versions AS v ON v.id = e.version_id
WHERE e.execution_id = ANY ($1::uuid[])
ORDER BY e.execution_id

-- name: entries_of_executions
SELECT n.execution_id, n.seq, n.at, n.count, n.body
FROM unnest($1::uuid[], $2::integer[]) AS w (execution_id, era)
JOIN layover.events AS n ON n.execution_id = w.execution_id AND n.era = w.era
ORDER BY n.execution_id, n.seq

-- name: snapshots_of_executions
SELECT execution_id, seq, body FROM layover.snapshots WHERE execution_id = ANY ($1::uuid[])

-- name: points_of_executions
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM layover.pause_points
WHERE execution_id = ANY ($1::uuid[])
ORDER BY execution_id, opened_at, id

-- name: messages_of_senders
SELECT sender, n, destination, kind, body, due_at
FROM layover.outbox
WHERE sender = ANY ($1::uuid[])
ORDER BY sender, n, destination

-- name: tokens_of_executions
SELECT execution_id, hash, point
FROM layover.tokens
WHERE execution_id = ANY ($1::uuid[])
ORDER BY execution_id, hash

-- name: waits_of_executions
-- The wait of an operator has the id of the execution in place of that of a point.
SELECT w.execution_id, w.name, w.key, w.point
FROM layover.pause_points AS p
JOIN layover.waits AS w ON w.point = p.id
WHERE p.execution_id = ANY ($1::uuid[])
UNION ALL
SELECT w.execution_id, w.name, w.key, w.point
FROM unnest($1::uuid[]) AS g (id)
JOIN layover.waits AS w ON w.point = g.id::text
ORDER BY execution_id, name, key, point

-- name: places_of_executions
SELECT execution_id, name, most, rank, held_at, rate, rate_limit, rate_per_ms, start_at, admitted
FROM layover.places
WHERE execution_id = ANY ($1::uuid[])

-- name: node_logs_of_executions
SELECT execution_id, id, node, attempt, at, lines, dropped, body
FROM layover.node_logs
WHERE execution_id = ANY ($1::uuid[])
ORDER BY execution_id, id

-- name: signals_after
SELECT id, name, key, at, data, dispatched
FROM layover.signals
WHERE id > $1::text
ORDER BY id
LIMIT $2::bigint

-- name: rates_after
SELECT name, used_until FROM layover.rates WHERE name > $1::text ORDER BY name LIMIT $2::bigint

-- name: insert_heads
INSERT INTO layover.heads (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at, created_at
)
SELECT
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers,
    CASE WHEN missing IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(missing::jsonb)) END,
    missing_since, paused_at, created_at
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::text[],
    $9::bigint[], $10::integer[], $11::integer[], $12::integer[], $13::text[], $14::bigint[], $15::bigint[],
    $16::bigint[]
) AS given (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at, created_at
)

-- name: insert_executions
INSERT INTO layover.executions (
    execution_id, version_id, created_at, "user", parent_id, correlation_id, tags, finished_at, outcome, error_code,
    input, resume_count
)
SELECT
    g.execution_id,
    (
        SELECT v.id
        FROM layover.versions AS v
        WHERE v.hash = g.hash AND v.workflow = g.workflow
        ORDER BY v.number
        LIMIT 1
    ),
    g.created_at, g."user", g.parent_id, g.correlation_id,
    CASE WHEN g.tags IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(g.tags::jsonb)) END,
    g.finished_at, g.outcome, g.error_code, g.input, g.resume_count
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::uuid[], $7::text[], $8::text[], $9::bigint[],
    $10::text[], $11::text[], $12::jsonb[], $13::integer[]
) AS g (
    execution_id, workflow, hash, created_at, "user", parent_id, correlation_id, tags, finished_at, outcome, error_code,
    input, resume_count
)

-- name: insert_snapshots
INSERT INTO layover.snapshots (execution_id, seq, body)
SELECT execution_id, seq, body FROM unnest($1::uuid[], $2::integer[], $3::bytea[]) AS given (execution_id, seq, body)

-- name: insert_points
INSERT INTO layover.pause_points (execution_id, id, workflow, kind, status, opened_at, closed_at, body, schema)
SELECT execution_id, id, workflow, kind, status, opened_at, closed_at, body, schema
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bytea[], $9::bytea[]
) AS given (execution_id, id, workflow, kind, status, opened_at, closed_at, body, schema)

-- name: insert_signals
INSERT INTO layover.signals (id, name, key, at, data, dispatched)
SELECT id, name, key, at, data, dispatched
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bytea[], $6::boolean[])
    AS given (id, name, key, at, data, dispatched)

-- name: insert_rates
INSERT INTO layover.rates (name, used_until)
SELECT name, used_until FROM unnest($1::text[], $2::bigint[]) AS given (name, used_until)

-- name: insert_workflow_statuses
INSERT INTO layover.standings (
    workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
)
SELECT workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
FROM unnest(
    $1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::text[]
) AS given (
    workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
)

-- name: insert_audit_entries
INSERT INTO layover.audit (
    id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, seal
)
SELECT id, at, "user", act, target, nullif(execution_id, ''), credential, request_id, details, nullif(entry, ''),
    nullif(salt, ''), nullif(leaf, ''), nullif(document, ''), seal
FROM unnest(
    $1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bytea[],
    $10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bigint[]
) AS given (
    id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, seal
)

-- name: insert_node_logs
INSERT INTO layover.node_logs (execution_id, id, node, attempt, at, lines, dropped, body)
SELECT execution_id, id, node, attempt, at, lines, dropped, body
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::integer[], $5::bigint[], $6::integer[], $7::integer[], $8::bytea[]
) AS given (execution_id, id, node, attempt, at, lines, dropped, body)

-- name: trigger_inputs_after
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM layover.trigger_inputs
WHERE (trigger_id, input_id) > ($1::uuid, $2::text)
ORDER BY trigger_id, input_id
LIMIT $3::bigint

-- name: all_trigger_events_after
SELECT trigger_id, seq, at, kind, body
FROM layover.trigger_events
WHERE (trigger_id, seq) > ($1::uuid, $2::bigint)
ORDER BY trigger_id, seq
LIMIT $3::bigint

-- name: trigger_tokens_after
SELECT hash, trigger_id, made_at, until
FROM layover.trigger_tokens
WHERE hash > $1::text
ORDER BY hash
LIMIT $2::bigint

-- name: copy_triggers
INSERT INTO layover.triggers (
    id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
)
SELECT
    id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $7::text[], $8::text[], $9::text[],
    $10::bigint[], $11::integer[], $12::text[], $13::bigint[], $14::bytea[], $15::integer[], $16::boolean[]
) AS g (
    id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
)

-- name: copy_trigger_inputs
INSERT INTO layover.trigger_inputs (
    trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
)
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::integer[],
    $9::text[], $10::uuid[], $11::bigint[]
) AS g (trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq)

-- name: deliveries_after
SELECT id, execution_id, workflow, n, lane, destination, kind, point, "user", address, body, state, reason,
    created_at, due_at, epoch, attempts, history, settled_at, awaited
FROM layover.deliveries
WHERE id > $1::uuid
ORDER BY id
LIMIT $2::bigint

-- name: all_batch_items_after
SELECT batch_id, n, target, parent, pin, state, code, reason, at
FROM layover.batch_items
WHERE (batch_id, n) > ($1::uuid, $2::bigint)
ORDER BY batch_id, n
LIMIT $3::bigint

-- name: copy_batch_items
INSERT INTO layover.batch_items (batch_id, n, target, parent, pin, state, code, reason, at)
SELECT batch_id, n, target, parent, pin, state, code, reason, at
FROM unnest(
    $1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[]
) AS g (batch_id, n, target, parent, pin, state, code, reason, at)

-- name: other_messages_after
SELECT o.sender, o.n, o.destination, o.kind, o.body, o.due_at
FROM layover.outbox AS o
WHERE (o.sender, o.destination, o.n) > ($1::uuid, $2::text, $3::bigint)
    AND NOT EXISTS (SELECT 1 FROM layover.heads AS h WHERE h.execution_id = o.sender)
ORDER BY o.sender, o.destination, o.n
LIMIT $4::bigint

-- name: copy_destinations
INSERT INTO layover.destinations (
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
)
SELECT
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
FROM unnest(
    $1::text[], $2::bytea[], $3::text[], $4::text[], $5::integer[], $6::bigint[], $7::bigint[], $8::integer[],
    $9::bigint[], $10::bigint[]
) AS g (
    name, config, state, reason, failures, failing_since, open_until, opened, free_at, changed_at
)

-- name: copy_person
INSERT INTO layover.people ("user", roles, body, changed_at) VALUES ($1::text, $2::text[], $3::bytea, $4::bigint)
