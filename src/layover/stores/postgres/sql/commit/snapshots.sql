snapshots AS (
    INSERT INTO layover.snapshots (execution_id, seq, body)
    SELECT s.execution_id, s.seq, s.body
    FROM unnest(:snapshot_ids::uuid[], :snapshot_seq::integer[], :snapshot_bodies::bytea[])
        AS s (execution_id, seq, body)
    WHERE (s.execution_id IN (SELECT execution_id FROM won)) IS TRUE
    ON CONFLICT (execution_id) DO UPDATE SET seq = excluded.seq, body = excluded.body
)
