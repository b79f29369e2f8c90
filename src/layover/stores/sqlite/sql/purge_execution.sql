DELETE FROM executions WHERE execution_id = :id
