changed AS (
    UPDATE layover.pause_points AS p
    SET status = c.status, closed_at = coalesce(c.closed_at, p.closed_at), body = coalesce(c.body, p.body)
    FROM unnest(
        :changed_ids::uuid[], :changed_points::text[], :changed_status::text[], :changed_closed_at::bigint[],
        :changed_bodies::bytea[]
    ) AS c (execution_id, id, status, closed_at, body)
    JOIN won AS w USING (execution_id)
    WHERE p.id = c.id
)
