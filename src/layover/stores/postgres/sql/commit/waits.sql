awaited AS (
    INSERT INTO layover.waits (execution_id, name, key, point)
    SELECT a.execution_id, a.name, a.key, a.point
    FROM unnest(:wait_ids::uuid[], :wait_names::text[], :wait_keys::text[], :wait_points::text[])
        AS a (execution_id, name, key, point)
    JOIN won AS w USING (execution_id)
    ON CONFLICT DO NOTHING
)
