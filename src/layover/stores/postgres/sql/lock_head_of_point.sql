SELECT 1
FROM layover.heads
WHERE execution_id = (SELECT points.execution_id FROM layover.pause_points AS points WHERE points.id = $1::text)
FOR NO KEY UPDATE
