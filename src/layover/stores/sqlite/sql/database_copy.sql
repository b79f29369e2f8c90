-- Whole executions, read from one database and written to another. A row that exists is an error.

-- name: execution_sizes
SELECT
    h.execution_id,
    (SELECT coalesce(sum(length(e.body)), 0) FROM events AS e WHERE e.execution_id = h.execution_id)
    + (SELECT coalesce(sum(length(c.body)), 0) FROM commands AS c WHERE c.execution_id = h.execution_id)
    + (SELECT coalesce(sum(length(p.body)), 0) FROM pause_points AS p WHERE p.execution_id = h.execution_id)
    + (SELECT coalesce(sum(length(o.body)), 0) FROM outbox AS o WHERE o.sender = h.execution_id)
    + (SELECT coalesce(sum(length(n.body)), 0) FROM node_logs AS n WHERE n.execution_id = h.execution_id)
    + coalesce((SELECT length(s.body) FROM snapshots AS s WHERE s.execution_id = h.execution_id), 0)
FROM heads AS h
WHERE h.execution_id > :after
ORDER BY h.execution_id
LIMIT :most

-- name: input_of_execution
SELECT input FROM executions WHERE execution_id = :id

-- name: waits_of_execution
-- The wait of an operator has the id of the execution in place of that of a point.
SELECT w.name, w.key, w.point FROM pause_points AS p JOIN waits AS w ON w.point = p.id WHERE p.execution_id = :id
UNION ALL
SELECT name, key, point FROM waits WHERE point = :text

-- name: tokens_of_execution
SELECT hash, point FROM tokens WHERE execution_id = :id ORDER BY hash

-- name: node_logs_of_execution
SELECT execution_id, id, node, attempt, at, lines, dropped, body FROM node_logs WHERE execution_id = :id ORDER BY id

-- name: signals_after
SELECT id, name, key, at, data, dispatched FROM signals WHERE id > :after ORDER BY id LIMIT :most

-- name: rates_after
SELECT name, used_until FROM rates WHERE name > :after ORDER BY name LIMIT :most

-- name: insert_heads
INSERT INTO heads (
    execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq, commands_done,
    takeovers, missing, missing_since, paused_at, created_at
)
VALUES (
    :id, :workflow, :status, :priority, :last_seq, :last_epoch, :epoch, :owner, :wake_at, :commands_seq, :commands_done,
    :takeovers, :missing, :missing_since, :paused_at, :created_at
)

-- name: insert_executions
INSERT INTO executions (
    execution_id, version_id, created_at, user, parent_id, correlation_id, tags, finished_at, outcome, error_code,
    input, resume_count
)
SELECT
    :id, id, :created_at, :user, :parent_id, :correlation_id, :tags, :finished_at, :outcome, :error_code, :input,
    :resume_count
FROM versions
WHERE hash = :hash AND workflow = :workflow
ORDER BY number
LIMIT 1

-- name: insert_snapshots
INSERT INTO snapshots (execution_id, seq, body) VALUES (:id, :seq, :body)

-- name: insert_points
INSERT INTO pause_points (id, execution_id, workflow, kind, status, opened_at, closed_at, body, schema)
VALUES (:point, :id, :workflow, :kind, :status, :opened_at, :closed_at, :body, :schema)

-- name: insert_signals
INSERT INTO signals (id, name, key, at, data, dispatched) VALUES (:id, :name, :key, :at, :data, :dispatched)

-- name: insert_rates
INSERT INTO rates (name, used_until) VALUES (:name, :used_until)

-- name: insert_workflow_statuses
INSERT INTO standings (
    workflow, state, changed_at, reason, changed_by, due_at, resume_signal, resume_key, resume_filter, resume_by,
    breakpoints
)
VALUES (
    :workflow, :state, :changed_at, :reason, :by, :due_at, :resume_signal, :resume_key, :resume_filter, :resume_by,
    :breakpoints
)

-- name: insert_audit_entries
INSERT INTO audit (
    id, at, user, act, target, execution_id, credential, request_id, details, entry, salt, leaf, document, seal
)
VALUES (
    :id, :at, :user, :act, :target, nullif(:execution_id, ''), :credential, :request_id, :details,
    nullif(:entry, x''), nullif(:salt, x''), nullif(:leaf, x''), nullif(:document_hash, x''), :seal
)

-- name: insert_node_logs
INSERT INTO node_logs (execution_id, id, node, attempt, at, lines, dropped, body)
VALUES (:execution_id, :id, :node, :attempt, :at, :lines, :dropped, :body)

-- name: trigger_inputs_after
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM trigger_inputs
WHERE (trigger_id, input_id) > (:trigger_id, :input_id)
ORDER BY trigger_id, input_id
LIMIT :most

-- name: all_trigger_events_after
SELECT trigger_id, seq, at, kind, body
FROM trigger_events
WHERE (trigger_id, seq) > (:trigger_id, :seq)
ORDER BY trigger_id, seq
LIMIT :most

-- name: trigger_tokens_after
SELECT hash, trigger_id, made_at, until
FROM trigger_tokens
WHERE hash > :after
ORDER BY hash
LIMIT :most

-- name: copy_triggers
INSERT INTO triggers (
    id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
)
VALUES (
    :id, :workflow, :name, :type, :config, :timing, :topic, :state, :reason, :seq, :epoch, :owner, :next_at, :cursor,
    :failures, :managed
)

-- name: copy_trigger_inputs
INSERT INTO trigger_inputs (
    trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
)
VALUES (
    :trigger_id, :input_id, :state, :at, :received_at, :due_at, :forget_at, :attempts, :reason, :execution_id, :seq
)

-- name: deliveries_after
SELECT id, execution_id, workflow, n, lane, destination, kind, point, user, address, body, state, reason, created_at,
    due_at, epoch, attempts, history, settled_at, awaited
FROM deliveries
WHERE id > :after
ORDER BY id
LIMIT :most

-- name: all_batch_items_after
SELECT batch_id, n, target, parent, pin, state, code, reason, at
FROM batch_items
WHERE (batch_id, n) > (:batch_id, :n)
ORDER BY batch_id, n
LIMIT :most

-- name: other_messages_after
SELECT o.sender, o.n, o.destination, o.kind, o.body, o.due_at
FROM outbox AS o
WHERE (o.sender, o.destination, o.n) > (:sender, :destination, :n)
    AND NOT EXISTS (SELECT 1 FROM heads AS h WHERE h.execution_id = o.sender)
ORDER BY o.sender, o.destination, o.n
LIMIT :most
