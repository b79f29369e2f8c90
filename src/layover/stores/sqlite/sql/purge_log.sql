DELETE FROM events WHERE execution_id = :id
