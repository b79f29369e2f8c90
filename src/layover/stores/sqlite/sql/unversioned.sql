SELECT execution_id FROM executions WHERE version_id NOT IN (SELECT id FROM versions)
