DELETE FROM commands WHERE execution_id = :id
