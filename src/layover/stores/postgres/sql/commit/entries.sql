entries AS (
    INSERT INTO layover.events (execution_id, seq, era, count, at, body)
    SELECT
        execution_id, last_seq - count + 1, floor(created_at / 604800000.0::double precision)::integer, count, at, body
    FROM locked
    WHERE passed AND count > 0
)
