SELECT execution_id, point FROM tokens WHERE hash = :hash
