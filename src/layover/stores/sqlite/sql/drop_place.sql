DELETE FROM places WHERE execution_id = :id
