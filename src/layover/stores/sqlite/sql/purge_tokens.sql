DELETE FROM tokens WHERE execution_id = :id
