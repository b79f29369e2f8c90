UPDATE executions SET finished_at = :at, outcome = :outcome, error_code = :error_code WHERE execution_id = :id
