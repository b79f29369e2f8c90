awaited AS (
    INSERT INTO layover.waits (execution_id, name, key, point)
    SELECT a.execution_id, a.name, a.key, a.point
    FROM unnest(:wait_ids::uuid[], :wait_names::text[], :wait_keys::text[], :wait_points::text[])
        AS a (execution_id, name, key, point)
    WHERE (a.execution_id IN (SELECT execution_id FROM won)) IS TRUE
    ON CONFLICT DO NOTHING
)
