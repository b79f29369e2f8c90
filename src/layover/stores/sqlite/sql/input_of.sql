SELECT input FROM executions WHERE execution_id = :id
