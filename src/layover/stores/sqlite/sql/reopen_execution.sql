UPDATE executions SET finished_at = NULL, outcome = NULL, error_code = NULL
WHERE execution_id = :id AND finished_at IS NOT NULL
