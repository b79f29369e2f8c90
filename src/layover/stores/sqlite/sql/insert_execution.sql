INSERT INTO executions (
    execution_id, version_id, created_at, user, parent_id, correlation_id, tags, finished_at, outcome, error_code,
    input
)
SELECT :id, id, :created_at, :user, :parent_id, :correlation_id, :tags, :finished_at, :outcome, :error_code, :input
FROM versions
WHERE hash = :hash AND workflow = :workflow
ORDER BY number
LIMIT 1
