-- name: save_triggers
INSERT INTO triggers (
    id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
)
VALUES (
    :id, :workflow, :name, :type, :config, :timing, :topic, :state, :reason, :seq, :epoch, :owner, :next_at, :cursor,
    :failures, :managed
)
ON CONFLICT (id) DO UPDATE
SET type = excluded.type, config = excluded.config, timing = excluded.timing, topic = excluded.topic,
    state = excluded.state, reason = excluded.reason, seq = excluded.seq, epoch = excluded.epoch,
    owner = excluded.owner, next_at = excluded.next_at, cursor = excluded.cursor, failures = excluded.failures,
    managed = excluded.managed

-- name: trigger_by_id
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM triggers
WHERE id = :id

-- name: list_triggers
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM triggers
WHERE (workflow, name) > (:after_workflow, :after_name)
ORDER BY workflow, name
LIMIT :limit

-- name: triggers_of_workflow
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM triggers
WHERE workflow = :workflow AND name > :after_name
ORDER BY name
LIMIT :limit

-- name: triggers_by_topic
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM triggers
WHERE topic = :topic AND topic <> '' AND state <> 'stopped'
ORDER BY id

-- name: due_triggers
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM triggers
WHERE next_at IS NOT NULL AND next_at <= :now
ORDER BY next_at
LIMIT :most

-- name: due_trigger_inputs
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM trigger_inputs
WHERE state = 'pending' AND due_at IS NOT NULL AND due_at <= :now
ORDER BY due_at
LIMIT :most

-- name: next_trigger_due
SELECT
    (SELECT min(next_at) FROM triggers WHERE next_at IS NOT NULL AND next_at > :now),
    (SELECT min(due_at) FROM trigger_inputs WHERE state = 'pending' AND due_at IS NOT NULL AND due_at > :now),
    (SELECT min(due_at) FROM standings WHERE due_at IS NOT NULL AND due_at > :now)

-- name: move_trigger
UPDATE triggers
SET state = :state, reason = :reason, next_at = :next_at, cursor = :cursor, failures = :failures, seq = :seq,
    owner = :owner, epoch = epoch + (:owner IS NOT NULL)
WHERE id = :id AND seq = :expected
    AND (:lease_epoch IS NULL OR (epoch = :lease_epoch AND cursor = :lease_cursor))

-- name: renew_poll
UPDATE triggers SET next_at = :until WHERE id = :id AND owner = :owner AND epoch = :epoch

-- name: note_trigger_event
UPDATE triggers SET seq = seq + 1 WHERE id = :id

-- name: insert_trigger_events
INSERT INTO trigger_events (trigger_id, seq, at, kind, body) VALUES (:trigger_id, :seq, :at, :kind, :body)

-- name: insert_trigger_inputs
-- A known id is a duplicate, and stays as it is.
INSERT INTO trigger_inputs (
    trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
)
VALUES (
    :trigger_id, :input_id, :state, :at, :received_at, :due_at, :forget_at, :attempts, :reason, :execution_id, :seq
)
ON CONFLICT DO NOTHING

-- name: hold_trigger_inputs
UPDATE trigger_inputs SET due_at = :due_at WHERE trigger_id = :id AND state = 'pending'

-- name: trigger_input_by_id
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM trigger_inputs
WHERE trigger_id = :trigger_id AND input_id = :input_id

-- name: known_trigger_inputs
SELECT input_id
FROM trigger_inputs
WHERE trigger_id = :trigger_id AND input_id IN (SELECT value FROM json_each(:ids))

-- name: start_trigger_inputs
UPDATE trigger_inputs
SET state = 'started', execution_id = :execution_id
WHERE trigger_id = :trigger_id AND input_id = :input_id AND state = 'pending'
    AND NOT EXISTS (SELECT 1 FROM heads WHERE heads.execution_id = :execution_id)

-- name: change_trigger_input
UPDATE trigger_inputs
SET state = :state, due_at = :due_at, attempts = :attempts, reason = :reason,
    execution_id = coalesce(:execution_id, execution_id), forget_at = max(forget_at, :forget_at)
WHERE trigger_id = :trigger_id AND input_id = :input_id AND state IN (SELECT value FROM json_each(:of))

-- name: count_pending_inputs
SELECT count(*)
FROM (SELECT 1 FROM trigger_inputs WHERE trigger_id = :trigger_id AND state = 'pending' LIMIT :most)

-- name: open_executions_of_trigger
-- Of those that it started last.
SELECT h.execution_id
FROM (
    SELECT execution_id, seq
    FROM trigger_inputs
    WHERE trigger_id = :trigger_id AND state = 'started'
    ORDER BY seq DESC
    LIMIT :most
) AS found
CROSS JOIN heads AS h ON h.execution_id = found.execution_id
WHERE h.status NOT IN ('completed', 'failed', 'cancelled')
ORDER BY found.seq DESC

-- name: list_trigger_inputs
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM trigger_inputs
WHERE trigger_id = :trigger_id
    AND (received_at, input_id) < (:after_at, :after_id)
    AND (:state IS NULL OR state = :state)
ORDER BY received_at DESC, input_id DESC
LIMIT :limit

-- name: trigger_events_after
SELECT seq, at, kind, body
FROM trigger_events
WHERE trigger_id = :trigger_id AND seq > :after
ORDER BY seq
LIMIT :limit

-- name: inputs_to_forget
SELECT trigger_id, input_id, seq
FROM trigger_inputs
WHERE state <> 'pending' AND forget_at < :now
ORDER BY forget_at
LIMIT :most

-- name: trigger_by_token
SELECT t.id, t.workflow, t.name, t.type, t.config, t.timing, t.topic, t.state, t.reason, t.seq, t.epoch, t.owner,
    t.next_at, t.cursor, t.failures, t.managed
FROM trigger_tokens AS k
CROSS JOIN triggers AS t ON t.id = k.trigger_id
WHERE k.hash = :hash AND (k.until IS NULL OR k.until >= :now)

-- name: lasting_trigger_token
SELECT 1 FROM trigger_tokens WHERE trigger_id = :trigger_id AND until IS NULL

-- name: end_trigger_tokens
UPDATE trigger_tokens SET until = :until WHERE trigger_id = :trigger_id AND (until IS NULL OR until > :until)

-- name: delete_trigger_tokens
DELETE FROM trigger_tokens WHERE trigger_id = :trigger_id AND until < :before

-- name: insert_trigger_tokens
INSERT INTO trigger_tokens (hash, trigger_id, made_at, until) VALUES (:hash, :trigger_id, :made_at, :until)

-- name: delete_trigger_inputs
DELETE FROM trigger_inputs WHERE trigger_id = :trigger_id AND input_id = :input_id

-- name: delete_trigger_events
DELETE FROM trigger_events WHERE trigger_id = :trigger_id AND seq = :seq

-- name: old_trigger_events
-- The data of an input that is still known stay with it.
SELECT e.trigger_id, e.seq
FROM trigger_events AS e
WHERE e.at < :before
    AND NOT EXISTS (
        SELECT 1
        FROM trigger_inputs AS i
        WHERE i.trigger_id = e.trigger_id AND i.seq = e.seq
            AND i.state IN ('pending', 'started', 'delivered', 'skipped', 'rejected', 'discarded')
    )
ORDER BY e.at
LIMIT :most
