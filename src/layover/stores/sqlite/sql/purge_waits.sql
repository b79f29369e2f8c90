DELETE FROM waits WHERE point IN (SELECT id FROM pause_points WHERE execution_id = :id)
