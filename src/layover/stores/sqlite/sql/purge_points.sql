DELETE FROM pause_points WHERE execution_id = :id
