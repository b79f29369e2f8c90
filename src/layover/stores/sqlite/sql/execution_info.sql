SELECT
    v.workflow, v.hash, e.created_at, h.priority, e.user, e.parent_id, e.correlation_id, e.tags
FROM executions AS e
JOIN heads AS h ON h.execution_id = e.execution_id
JOIN versions AS v ON v.id = e.version_id
WHERE e.execution_id = :id
