unwaited AS (
    DELETE FROM layover.waits AS a
    USING unnest(:unwaited_ids::uuid[], :unwaited_points::text[]) AS c (execution_id, point)
    JOIN won AS w USING (execution_id)
    WHERE a.point = c.point
)
