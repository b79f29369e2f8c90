given_new AS MATERIALIZED (
    SELECT *
    FROM unnest(
        :new_ids::uuid[], :new_workflows::text[], :new_hashes::text[], :new_created_at::bigint[],
        :new_priorities::integer[], :new_status::text[], :new_epochs::integer[], :new_owners::text[],
        :new_wake_at::bigint[], :new_missing::text[], :new_users::text[], :new_parents::uuid[],
        :new_correlation_ids::text[], :new_tags::text[], :new_counts::integer[], :new_at::bigint[],
        :new_bodies::bytea[], :new_last_seq::integer[], :new_finished_at::bigint[], :new_outcomes::text[],
        :new_error_codes::text[], :new_inputs::bytea[]
    ) AS g (
        execution_id, workflow, hash, created_at, priority, status, epoch, owner, wake_at, missing, "user", parent_id,
        correlation_id, tags, count, at, body, last_seq, finished_at, outcome, error_code,
        input
    )
),
new_heads AS (
    INSERT INTO layover.heads (
        execution_id, workflow, status, priority, last_seq, last_epoch, epoch, owner, wake_at, commands_seq,
        commands_done, takeovers, created_at, missing, missing_since, paused_at
    )
    SELECT
        execution_id, workflow, status, priority, last_seq, epoch, epoch, owner, wake_at, 0, 0, 0, created_at,
        CASE WHEN missing IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(missing::jsonb)) END,
        CASE WHEN missing IS NOT NULL THEN at END,
        CASE WHEN status = 'paused' THEN at END
    FROM given_new
    ORDER BY execution_id
    ON CONFLICT DO NOTHING
    RETURNING execution_id
),
new_executions AS (
    INSERT INTO layover.executions (
        execution_id, version_id, created_at, "user", parent_id, correlation_id, tags, finished_at, outcome, error_code,
        input
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
        -- Only UTF8 has every character: in another encoding, one that is not there would keep it from beginning.
        convert_from(g.input, 'UTF8')::jsonb
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
