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
    WHERE (e.execution_id IN (SELECT execution_id FROM won)) IS TRUE
)
