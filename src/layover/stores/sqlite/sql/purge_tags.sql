DELETE FROM tags
WHERE (tag, created_at, execution_id) IN (
    SELECT value, e.created_at, e.execution_id
    FROM executions AS e, json_each(e.tags)
    WHERE e.execution_id = :id
)
