SELECT e.execution_id
FROM layover.executions AS e
WHERE NOT EXISTS (SELECT 1 FROM layover.versions AS v WHERE v.id = e.version_id)
ORDER BY e.execution_id
