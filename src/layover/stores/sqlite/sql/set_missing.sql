UPDATE heads SET missing = :missing, missing_since = :since WHERE execution_id = :id
