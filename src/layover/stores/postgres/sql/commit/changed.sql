changed AS (
    UPDATE layover.pause_points AS p
    SET status = c.status, closed_at = coalesce(c.closed_at, p.closed_at), body = coalesce(c.body, p.body)
    FROM unnest(
        :changed_ids::uuid[], :changed_points::text[], :changed_status::text[], :changed_closed_at::bigint[],
        :changed_bodies::bytea[]
    ) AS c (execution_id, id, status, closed_at, body)
    WHERE p.execution_id = c.execution_id AND p.id = c.id AND (c.execution_id IN (SELECT execution_id FROM won)) IS TRUE
)
