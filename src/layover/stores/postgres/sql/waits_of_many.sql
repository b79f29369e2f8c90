SELECT w.execution_id, w.name, w.key, w.point
FROM layover.pause_points AS p
JOIN layover.waits AS w ON w.point = p.id
WHERE p.execution_id = ANY ($1::uuid[])
ORDER BY w.execution_id, w.name, w.key, w.point
