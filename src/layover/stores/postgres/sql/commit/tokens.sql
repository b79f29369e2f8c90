tokens AS (
    INSERT INTO layover.tokens (execution_id, hash, point)
    SELECT t.execution_id, t.hash, t.point
    FROM unnest(:token_ids::uuid[], :token_hashes::bytea[], :token_points::text[]) AS t (execution_id, hash, point)
    WHERE (t.execution_id IN (SELECT execution_id FROM won)) IS TRUE
)
