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
        at, body, rests, wake_at, missing
    FROM unnest(
        :ids::uuid[], :owners::text[], :epochs::integer[], :expected::integer[], :seen::integer[],
        :totals::integer[], :status::text[], :counts::integer[], :at::bigint[], :bodies::bytea[],
        :rests::boolean[], :wake_at::bigint[], :missing::text[]
    ) AS g (
        execution_id, owner, epoch, expected, seen, total, status, count, at, body, rests, wake_at, missing
    )
),
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
),
moved AS (
    UPDATE layover.heads AS h
    SET last_seq = l.last_seq, last_epoch = l.epoch, status = l.status, commands_done = l.seen, takeovers = 0,
        owner = CASE WHEN l.rests THEN NULL ELSE h.owner END,
        wake_at = CASE WHEN l.rests THEN l.wake_at ELSE h.wake_at END,
        missing = CASE
            WHEN NOT l.rests THEN h.missing
            WHEN l.missing IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(l.missing::jsonb))
        END,
        missing_since = CASE
            WHEN NOT l.rests THEN h.missing_since
            WHEN l.missing IS NOT NULL THEN coalesce(h.missing_since, l.at)
        END
    FROM locked AS l
    WHERE h.execution_id = l.execution_id AND l.passed
),
entries AS (
    INSERT INTO layover.events (execution_id, seq, era, count, at, body)
    SELECT
        execution_id, last_seq - count + 1, floor(created_at / 604800000.0::double precision)::integer, count, at, body
    FROM locked
    WHERE passed AND count > 0
)
