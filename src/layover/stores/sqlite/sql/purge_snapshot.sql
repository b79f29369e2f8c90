DELETE FROM snapshots WHERE execution_id = :id
