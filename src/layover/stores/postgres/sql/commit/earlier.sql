earlier AS (
    INSERT INTO layover.events (execution_id, seq, era, count, at, body)
    SELECT e.execution_id, e.seq, floor(w.created_at / 604800000.0::double precision)::integer, e.count, e.at, e.body
    FROM unnest(
        :earlier_ids::uuid[], :earlier_seq::integer[], :earlier_counts::integer[], :earlier_at::bigint[],
        :earlier_bodies::bytea[]
    ) AS e (execution_id, seq, count, at, body)
    JOIN won AS w USING (execution_id)
)
