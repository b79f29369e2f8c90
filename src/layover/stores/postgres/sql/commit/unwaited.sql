unwaited AS (
    DELETE FROM layover.waits AS a
    USING unnest(:unwaited_ids::uuid[], :unwaited_points::text[]) AS c (execution_id, point)
    WHERE a.point = c.point AND (c.execution_id IN (SELECT execution_id FROM won)) IS TRUE
)
