-- name: save_triggers
-- In the order of the ids, so that two instances cannot wait for each other.
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
ORDER BY id
ON CONFLICT (id) DO UPDATE
SET type = excluded.type, config = excluded.config, timing = excluded.timing, topic = excluded.topic,
    state = excluded.state, reason = excluded.reason, seq = excluded.seq, epoch = excluded.epoch,
    owner = excluded.owner, next_at = excluded.next_at, cursor = excluded.cursor, failures = excluded.failures,
    managed = excluded.managed
WHERE triggers.seq < excluded.seq
RETURNING id

-- name: trigger_by_id
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM layover.triggers
WHERE id = $1::uuid

-- name: lock_trigger
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM layover.triggers
WHERE id = $1::uuid
FOR NO KEY UPDATE

-- name: list_triggers
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM layover.triggers
WHERE (workflow, name) > ($1::text, $2::text)
ORDER BY workflow, name
LIMIT $3::bigint

-- name: triggers_of_workflow
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM layover.triggers
WHERE workflow = $1::text AND name > $2::text
ORDER BY name
LIMIT $3::bigint

-- name: lock_triggers_of_workflow
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM layover.triggers
WHERE workflow = $1::text
ORDER BY id
FOR NO KEY UPDATE

-- name: triggers_by_topic
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM layover.triggers
WHERE topic = $1::text AND topic <> '' AND state <> 'stopped'
ORDER BY id

-- name: due_triggers
SELECT id, workflow, name, type, config, timing, topic, state, reason, seq, epoch, owner, next_at, cursor, failures,
    managed
FROM layover.triggers
WHERE next_at IS NOT NULL AND next_at <= $1::bigint
ORDER BY next_at
LIMIT $2::bigint

-- name: due_trigger_inputs
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM layover.trigger_inputs
WHERE state = 'pending' AND due_at IS NOT NULL AND due_at <= $1::bigint
ORDER BY due_at
LIMIT $2::bigint

-- name: next_trigger_due
-- Whether something is due, and when something will be: while nothing is, an instance asks nothing else.
SELECT
    (SELECT min(next_at) FROM layover.triggers WHERE next_at IS NOT NULL AND next_at <= $1::bigint),
    (SELECT min(due_at) FROM layover.trigger_inputs WHERE state = 'pending' AND due_at IS NOT NULL AND due_at <= $1),
    (SELECT min(due_at) FROM layover.standings WHERE due_at IS NOT NULL AND due_at <= $1),
    (SELECT min(next_at) FROM layover.triggers WHERE next_at IS NOT NULL AND next_at > $1::bigint),
    (SELECT min(due_at) FROM layover.trigger_inputs WHERE state = 'pending' AND due_at IS NOT NULL AND due_at > $1),
    (SELECT min(due_at) FROM layover.standings WHERE due_at IS NOT NULL AND due_at > $1)

-- name: move_trigger
UPDATE layover.triggers
SET state = $3::text, reason = $4::text, next_at = $5::bigint, cursor = $6::bytea, failures = $7::integer,
    seq = $8::bigint, owner = $9::text, epoch = epoch + ($9::text IS NOT NULL)::integer
WHERE id = $1::uuid AND seq = $2::bigint
    AND ($10::integer IS NULL OR (epoch = $10 AND cursor = $11::bytea))
RETURNING TRUE

-- name: renew_poll
UPDATE layover.triggers
SET next_at = $4::bigint
WHERE id = $1::uuid AND owner = $2::text AND epoch = $3::integer
RETURNING TRUE

-- name: note_trigger_event
UPDATE layover.triggers SET seq = seq + 1 WHERE id = $1::uuid

-- name: insert_trigger_events
INSERT INTO layover.trigger_events (trigger_id, seq, at, kind, body)
SELECT trigger_id, seq, at, kind, body
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[]) AS g (trigger_id, seq, at, kind, body)

-- name: insert_trigger_inputs
-- A known id is a duplicate, and stays as it is.
INSERT INTO layover.trigger_inputs (
    trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
)
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM unnest(
    $1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::integer[],
    $9::text[], $10::uuid[], $11::bigint[]
) AS g (trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq)
ORDER BY trigger_id, input_id
ON CONFLICT DO NOTHING

-- name: hold_trigger_inputs
UPDATE layover.trigger_inputs SET due_at = $2::bigint WHERE trigger_id = $1::uuid AND state = 'pending'

-- name: trigger_input_by_id
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM layover.trigger_inputs
WHERE trigger_id = $1::uuid AND input_id = $2::text

-- name: known_trigger_inputs
-- Each is looked up by its key; a comparison with the whole array would go through all inputs of the trigger.
SELECT g.input_id
FROM unnest($2::text[]) AS g (input_id)
WHERE EXISTS (
    SELECT 1 FROM layover.trigger_inputs AS i WHERE i.trigger_id = $1::uuid AND i.input_id = g.input_id OFFSET 0
)

-- name: change_trigger_input
UPDATE layover.trigger_inputs
SET state = $4::text, due_at = $5::bigint, attempts = $6::integer, reason = $7::text,
    execution_id = coalesce($8::uuid, execution_id), forget_at = greatest(forget_at, $9::bigint)
WHERE trigger_id = $1::uuid AND input_id = $2::text AND state = ANY($3::text[])
RETURNING TRUE

-- name: count_pending_inputs
SELECT count(*)
FROM (
    SELECT 1 FROM layover.trigger_inputs WHERE trigger_id = $1::uuid AND state = 'pending' LIMIT $2::bigint
) AS counted

-- name: open_executions_of_trigger
-- Of those that it started last. Each head is looked up by its key; a join would seek by the status.
SELECT i.execution_id
FROM (
    SELECT execution_id, seq
    FROM layover.trigger_inputs
    WHERE trigger_id = $1::uuid AND state = 'started'
    ORDER BY seq DESC
    LIMIT $2::bigint
) AS i
WHERE (SELECT h.status FROM layover.heads AS h WHERE h.execution_id = i.execution_id)
    NOT IN ('completed', 'failed', 'cancelled')
ORDER BY i.seq DESC

-- name: list_trigger_inputs
SELECT trigger_id, input_id, state, at, received_at, due_at, forget_at, attempts, reason, execution_id, seq
FROM layover.trigger_inputs
WHERE trigger_id = $1::uuid
    AND (received_at, input_id) < ($3::bigint, $4::text)
    AND ($2::text IS NULL OR state = $2)
ORDER BY received_at DESC, input_id DESC
LIMIT $5::bigint

-- name: trigger_events_after
SELECT seq, at, kind, body
FROM layover.trigger_events
WHERE trigger_id = $1::uuid AND seq > $2::bigint
ORDER BY seq
LIMIT $3::bigint

-- name: trigger_by_token
SELECT t.id, t.workflow, t.name, t.type, t.config, t.timing, t.topic, t.state, t.reason, t.seq, t.epoch, t.owner,
    t.next_at, t.cursor, t.failures, t.managed
FROM layover.trigger_tokens AS k
JOIN layover.triggers AS t ON t.id = k.trigger_id
WHERE k.hash = $1::text AND (k.until IS NULL OR k.until >= $2::bigint)

-- name: lasting_trigger_token
SELECT 1 FROM layover.trigger_tokens WHERE trigger_id = $1::uuid AND until IS NULL

-- name: end_trigger_tokens
UPDATE layover.trigger_tokens
SET until = $2::bigint
WHERE trigger_id = $1::uuid AND (until IS NULL OR until > $2::bigint)

-- name: delete_trigger_tokens
DELETE FROM layover.trigger_tokens WHERE trigger_id = $1::uuid AND until < $2::bigint

-- name: insert_trigger_tokens
INSERT INTO layover.trigger_tokens (hash, trigger_id, made_at, until)
SELECT hash, trigger_id, made_at, until
FROM unnest($1::text[], $2::uuid[], $3::bigint[], $4::bigint[]) AS g (hash, trigger_id, made_at, until)

-- name: forget_trigger_inputs
-- With the events that hold their data.
WITH old AS MATERIALIZED (
    SELECT trigger_id, input_id, seq
    FROM layover.trigger_inputs
    WHERE state <> 'pending' AND forget_at < $1::bigint
    ORDER BY forget_at
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
events AS (
    DELETE FROM layover.trigger_events AS e USING old AS o WHERE e.trigger_id = o.trigger_id AND e.seq = o.seq
),
gone AS (
    DELETE FROM layover.trigger_inputs AS i
    USING old AS o
    WHERE i.trigger_id = o.trigger_id AND i.input_id = o.input_id
    RETURNING 1
)
SELECT count(*) FROM gone

-- name: delete_old_trigger_events
-- The data of an input that is still known stay with it.
WITH old AS MATERIALIZED (
    SELECT e.trigger_id, e.seq
    FROM layover.trigger_events AS e
    WHERE e.at < $1::bigint
        AND NOT EXISTS (
            SELECT 1
            FROM layover.trigger_inputs AS i
            WHERE i.trigger_id = e.trigger_id AND i.seq = e.seq
                AND i.state IN ('pending', 'started', 'delivered', 'skipped', 'rejected', 'discarded')
        )
    ORDER BY e.at
    LIMIT $2::bigint
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM layover.trigger_events AS e
    USING old AS o
    WHERE e.trigger_id = o.trigger_id AND e.seq = o.seq
    RETURNING 1
)
SELECT count(*) FROM gone
