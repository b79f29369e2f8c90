-- The parts of the one statement of a group commit; `commit_statements.py` puts together those that a group needs.
-- Whatever belongs to an execution is written only if its append has passed.

-- name: started_inputs
-- Turns inputs of triggers from pending to started, unless their executions are there already; an execution whose input
-- was not pending is not begun.
pending_inputs AS MATERIALIZED (
    SELECT i.trigger_id, i.input_id, g.execution_id
    FROM unnest(:started_ids::uuid[], :started_triggers::uuid[], :started_inputs::text[])
        AS g (execution_id, trigger_id, input_id)
    JOIN layover.trigger_inputs AS i ON i.trigger_id = g.trigger_id AND i.input_id = g.input_id
    WHERE (i.state = 'pending') IS TRUE -- not sought by: the key is enough
        AND NOT EXISTS (SELECT 1 FROM layover.heads AS h WHERE h.execution_id = g.execution_id)
    ORDER BY i.trigger_id, i.input_id -- in every group, so that no two groups wait for each other
    FOR NO KEY UPDATE OF i
),
started_inputs AS (
    UPDATE layover.trigger_inputs AS i
    SET state = 'started', execution_id = p.execution_id
    FROM pending_inputs AS p
    WHERE i.trigger_id = p.trigger_id AND i.input_id = p.input_id
    RETURNING i.execution_id
)

-- name: new
-- Begins executions: heads, executions and the first entries.
given_new AS MATERIALIZED (
    SELECT *
    FROM unnest(
        :new_ids::uuid[], :new_workflows::text[], :new_hashes::text[], :new_created_at::bigint[],
        :new_priorities::integer[], :new_status::text[], :new_epochs::integer[], :new_owners::text[],
        :new_wake_at::bigint[], :new_missing::text[], :new_users::text[], :new_parents::uuid[],
        :new_correlation_ids::text[], :new_tags::text[], :new_counts::integer[], :new_at::bigint[],
        :new_bodies::bytea[], :new_last_seq::integer[], :new_finished_at::bigint[], :new_outcomes::text[],
        :new_error_codes::text[], :new_inputs::bytea[], :new_resumes::integer[]
    ) AS g (
        execution_id, workflow, hash, created_at, priority, status, epoch, owner, wake_at, missing, "user", parent_id,
        correlation_id, tags, count, at, body, last_seq, finished_at, outcome, error_code,
        input, resume_count
    )
),
new_heads AS (
    INSERT INTO layover.heads (
        execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq,
        commands_done, takeovers, created_at, missing, missing_since, paused_at, unindexed
    )
    SELECT
        execution_id, workflow, status, priority, last_seq, epoch, epoch, owner, {wake_at}, 0, 0, 0, created_at,
        CASE WHEN missing IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(missing::jsonb)) END,
        CASE WHEN missing IS NOT NULL THEN at END,
        CASE WHEN status = 'paused' THEN at END,
        owner IS NULL OR status <> 'running'
    FROM given_new{whose_inputs_were_pending}
    ORDER BY execution_id
    ON CONFLICT DO NOTHING
    RETURNING execution_id
),
new_executions AS (
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
        g.finished_at, g.outcome, g.error_code,
        -- UTF8 has every character; with another encoding, a missing one would keep the execution from beginning.
        convert_from(g.input, 'UTF8')::jsonb, g.resume_count
    FROM given_new AS g
    WHERE (g.execution_id IN (SELECT execution_id FROM new_heads)) IS TRUE
),
new_entries AS (
    INSERT INTO layover.events (execution_id, seq, era, count, at, body)
    SELECT
        g.execution_id, g.last_seq - g.count + 1, floor(g.created_at / 604800000.0::double precision)::integer,
        g.count, g.at, g.body
    FROM given_new AS g
    WHERE (g.execution_id IN (SELECT execution_id FROM new_heads)) IS TRUE AND g.count > 0
)

-- name: moves
-- The appends of a group that keep their leases. A column with one value for all rows is sent with that value once.
given_moves AS MATERIALIZED (
    SELECT
        execution_id,
        coalesce(owner, (:owners::text[])[1]) AS owner,
        coalesce(epoch, (:epochs::integer[])[1]) AS epoch,
        expected,
        coalesce(seen, (:seen::integer[])[1]) AS seen,
        expected + coalesce(total, (:totals::integer[])[1]) AS last_seq,
        coalesce(status, (:status::text[])[1]) AS status,
        coalesce(count, (:counts::integer[])[1]) AS count,
        at, body
    FROM unnest(
        :ids::uuid[], :owners::text[], :epochs::integer[], :expected::integer[], :seen::integer[],
        :totals::integer[], :status::text[], :counts::integer[], :at::bigint[], :bodies::bytea[]
    ) AS g (execution_id, owner, epoch, expected, seen, total, status, count, at, body)
)

-- name: resting_moves
-- The same for a group in which some appends release their leases.
given_moves AS MATERIALIZED (
    SELECT
        execution_id,
        coalesce(owner, (:owners::text[])[1]) AS owner,
        coalesce(epoch, (:epochs::integer[])[1]) AS epoch,
        expected,
        coalesce(seen, (:seen::integer[])[1]) AS seen,
        expected + coalesce(total, (:totals::integer[])[1]) AS last_seq,
        coalesce(status, (:status::text[])[1]) AS status,
        coalesce(count, (:counts::integer[])[1]) AS count,
        at, body, rests, wake_at, missing, since
    FROM unnest(
        :ids::uuid[], :owners::text[], :epochs::integer[], :expected::integer[], :seen::integer[],
        :totals::integer[], :status::text[], :counts::integer[], :at::bigint[], :bodies::bytea[],
        :rests::boolean[], :wake_at::bigint[], :missing::text[], :since::bigint[]
    ) AS g (
        execution_id, owner, epoch, expected, seen, total, status, count, at, body, rests, wake_at, missing, since
    )
)

-- name: locked
-- Locks heads in the order of their ids, after the group has inserted its own, so that no two groups wait for each
-- other.
locked AS MATERIALIZED (
    SELECT
        g.*, h.created_at, h.owner AS has_owner, h.epoch AS has_epoch, h.last_seq AS has_seq,
        h.commands_seq AS has_commands,
        h.owner IS NOT DISTINCT FROM g.owner AND h.epoch = g.epoch AND h.last_seq = g.expected
            AND h.commands_seq = g.seen AS passed
    FROM given_moves AS g
    JOIN layover.heads AS h ON h.execution_id = g.execution_id
    WHERE {new_heads_are_there}
    ORDER BY h.execution_id
    FOR NO KEY UPDATE OF h
)

-- name: moved
moved AS (
    UPDATE layover.heads AS h
    SET last_seq = l.last_seq, last_epoch = l.epoch, status = l.status, commands_done = l.seen, takeovers = {takeovers},
        paused_at = CASE WHEN l.status = 'paused' THEN CASE WHEN h.status = 'paused' THEN h.paused_at ELSE l.at END END,
        unindexed = h.unindexed OR l.status <> 'running'
    FROM locked AS l
    WHERE h.execution_id = l.execution_id AND l.passed
)

-- name: moved_or_rested
moved AS (
    UPDATE layover.heads AS h
    SET last_seq = l.last_seq, last_epoch = l.epoch, status = l.status, commands_done = l.seen, takeovers = {takeovers},
        paused_at = CASE
            WHEN l.status = 'paused'
                THEN coalesce(l.since, CASE WHEN h.status = 'paused' THEN h.paused_at ELSE l.at END)
        END,
        owner = CASE WHEN l.rests THEN NULL ELSE h.owner END,
        wake_at = CASE WHEN l.rests THEN l.wake_at ELSE h.wake_at END,
        missing = CASE
            WHEN NOT l.rests THEN h.missing
            WHEN l.missing IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(l.missing::jsonb))
        END,
        missing_since = CASE
            WHEN NOT l.rests THEN h.missing_since
            WHEN l.missing IS NOT NULL THEN coalesce(h.missing_since, l.at)
        END,
        unindexed = h.unindexed OR l.rests OR l.status <> 'running'
    FROM locked AS l
    WHERE h.execution_id = l.execution_id AND l.passed
)

-- name: entries
entries AS (
    INSERT INTO layover.events (execution_id, seq, era, count, at, body)
    SELECT
        execution_id, last_seq - count + 1, floor(created_at / 604800000.0::double precision)::integer, count, at, body
    FROM locked
    WHERE passed AND count > 0
)

-- name: passed_new
SELECT execution_id FROM new_heads

-- name: passed_moves
SELECT execution_id FROM locked WHERE passed

-- name: refused_new
SELECT g.execution_id, NULL::text, NULL::integer, NULL::integer, NULL::integer
FROM given_new AS g
WHERE (g.execution_id IN (SELECT execution_id FROM new_heads)) IS NOT TRUE

-- name: refused_moves
-- A head that is not there is not locked either; then the columns are NULL.
SELECT execution_id, has_owner, has_epoch, has_seq, has_commands FROM locked WHERE NOT passed
UNION ALL
SELECT g.execution_id, NULL, NULL, NULL, NULL
FROM given_moves AS g
WHERE (SELECT count(*) FROM locked) < cardinality(:ids::uuid[])
    AND NOT EXISTS (SELECT 1 FROM locked AS l WHERE l.execution_id = g.execution_id)

-- name: earlier_entries
earlier AS (
    INSERT INTO layover.events (execution_id, seq, era, count, at, body)
    SELECT
        e.execution_id, e.seq,
        floor(
            coalesce(
                e.created_at, (SELECT h.created_at FROM layover.heads AS h WHERE h.execution_id = e.execution_id)
            ) / 604800000.0::double precision
        )::integer,
        e.count, e.at, e.body
    FROM unnest(
        :earlier_ids::uuid[], :earlier_seq::integer[], :earlier_counts::integer[], :earlier_at::bigint[],
        :earlier_bodies::bytea[], :earlier_created_at::bigint[]
    ) AS e (execution_id, seq, count, at, body, created_at)
    WHERE (e.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
)

-- name: opened_points
opened AS (
    INSERT INTO layover.pause_points (
        execution_id, id, workflow, kind, status, opened_at, closed_at, body, schema
    )
    SELECT
        p.execution_id, p.id,
        coalesce(p.workflow, (SELECT h.workflow FROM layover.heads AS h WHERE h.execution_id = p.execution_id)),
        p.kind, p.status, p.opened_at, p.closed_at, p.body, p.schema
    FROM unnest(
        :opened_ids::uuid[], :opened_points::text[], :opened_kinds::text[], :opened_status::text[],
        :opened_at::bigint[], :opened_closed_at::bigint[], :opened_bodies::bytea[], :opened_schemas::bytea[],
        :opened_workflows::text[]
    ) AS p (execution_id, id, kind, status, opened_at, closed_at, body, schema, workflow)
    WHERE (p.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
)

-- name: changed_points
changed AS (
    UPDATE layover.pause_points AS p
    SET status = c.status, closed_at = coalesce(c.closed_at, p.closed_at), body = coalesce(c.body, p.body)
    FROM unnest(
        :changed_ids::uuid[], :changed_points::text[], :changed_status::text[], :changed_closed_at::bigint[],
        :changed_bodies::bytea[]
    ) AS c (execution_id, id, status, closed_at, body)
    WHERE p.execution_id = c.execution_id
        AND p.id = c.id
        AND (c.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
)

-- name: started_waits
awaited AS (
    INSERT INTO layover.waits (execution_id, name, key, point)
    SELECT a.execution_id, a.name, a.key, a.point
    FROM unnest(:wait_ids::uuid[], :wait_names::text[], :wait_keys::text[], :wait_points::text[])
        AS a (execution_id, name, key, point)
    WHERE (a.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
    ON CONFLICT DO NOTHING
)

-- name: ended_waits
unwaited AS (
    DELETE FROM layover.waits AS a
    USING unnest(:unwaited_ids::uuid[], :unwaited_points::text[]) AS c (execution_id, point)
    WHERE a.point = c.point AND (c.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
)

-- name: snapshots
snapshots AS (
    INSERT INTO layover.snapshots (execution_id, seq, body)
    SELECT s.execution_id, s.seq, s.body
    FROM unnest(:snapshot_ids::uuid[], :snapshot_seq::integer[], :snapshot_bodies::bytea[])
        AS s (execution_id, seq, body)
    WHERE (s.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
    ON CONFLICT (execution_id) DO UPDATE SET seq = excluded.seq, body = excluded.body
)

-- name: closed_executions
-- Also those that are opened again: then all columns are NULL.
ended AS (
    UPDATE layover.executions AS e
    SET finished_at = c.finished_at, outcome = c.outcome, error_code = c.error_code,
        resume_count = coalesce(c.resume_count, e.resume_count)
    FROM unnest(
        :ended_ids::uuid[], :ended_at::bigint[], :ended_outcomes::text[], :ended_error_codes::text[],
        :ended_resumes::integer[]
    ) AS c (execution_id, finished_at, outcome, error_code, resume_count)
    WHERE e.execution_id = c.execution_id AND (c.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
)

-- name: resumed_executions
resumed AS (
    UPDATE layover.executions AS e
    SET resume_count = c.resume_count
    FROM unnest(:resumed_ids::uuid[], :resumed_counts::integer[]) AS c (execution_id, resume_count)
    WHERE e.execution_id = c.execution_id AND (c.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
)

-- name: moved_executions
-- Executions that go on by another version. They may end, or be resumed, in the same append: a row is written once.
changed_versions AS (
    UPDATE layover.executions AS e
    SET
        version_id = (
            SELECT v.id
            FROM layover.versions AS v
            WHERE
                v.hash = c.hash
                AND v.workflow = (SELECT h.workflow FROM layover.heads AS h WHERE h.execution_id = c.execution_id)
            ORDER BY v.number
            LIMIT 1
        ),
        finished_at = CASE WHEN c.ends THEN c.finished_at ELSE e.finished_at END,
        outcome = CASE WHEN c.ends THEN c.outcome ELSE e.outcome END,
        error_code = CASE WHEN c.ends THEN c.error_code ELSE e.error_code END,
        resume_count = coalesce(c.resume_count, e.resume_count)
    FROM unnest(
        :moved_ids::uuid[], :moved_hashes::text[], :moved_ends::boolean[], :moved_at::bigint[], :moved_outcomes::text[],
        :moved_error_codes::text[], :moved_resumes::integer[]
    ) AS c (execution_id, hash, ends, finished_at, outcome, error_code, resume_count)
    WHERE e.execution_id = c.execution_id AND (c.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
)

-- name: messages
messages AS (
    INSERT INTO layover.outbox (sender, n, destination, kind, body, due_at)
    SELECT m.sender, m.n, m.destination, m.kind, m.body, m.due_at
    FROM unnest(
        :senders::uuid[], :message_n::bigint[], :destinations::text[], :message_kinds::text[],
        :message_bodies::bytea[], :due_at::bigint[]
    ) AS m (sender, n, destination, kind, body, due_at)
    WHERE (m.sender IN (SELECT execution_id FROM passed)) IS TRUE
)

-- name: tokens
tokens AS (
    INSERT INTO layover.tokens (execution_id, hash, point)
    SELECT t.execution_id, t.hash, t.point
    FROM unnest(:token_ids::uuid[], :token_hashes::bytea[], :token_points::text[]) AS t (execution_id, hash, point)
    WHERE (t.execution_id IN (SELECT execution_id FROM passed)) IS TRUE
)

-- name: audit_entries
acts AS MATERIALIZED (
    SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details, a.entry,
        a.salt, a.leaf, a.document, a.body
    FROM unnest(
        :audited_ids::uuid[], :audit_ids::text[], :audit_at::bigint[], :audit_users::text[], :audit_acts::text[],
        :audit_targets::text[], :audit_executions::text[], :audit_credentials::text[], :audit_requests::text[],
        :audit_details::bytea[], :audit_bodies::bytea[], :audit_salts::bytea[], :audit_leaves::bytea[],
        :audit_seen::bytea[], :audit_documents::bytea[]
    ) AS a (
        audited, id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf,
        document, body
    )
    WHERE (a.audited IN (SELECT execution_id FROM passed)) IS TRUE
),
audited AS (
    INSERT INTO layover.audit (
        id, at, "user", act, target, execution_id, credential, request_id, details, entry, salt, leaf, document
    )
    SELECT id, at, "user", act, target, nullif(execution_id, ''), credential, request_id, details, nullif(entry, ''),
        nullif(salt, ''), nullif(leaf, ''), nullif(document, '')
    FROM acts
    ORDER BY at, id -- in every group, so that no two groups wait for each other
    ON CONFLICT DO NOTHING
),
documented AS (
    INSERT INTO layover.audit_documents (hash, body)
    SELECT DISTINCT document, body FROM acts WHERE body IS NOT NULL ORDER BY document
    ON CONFLICT DO NOTHING
)
