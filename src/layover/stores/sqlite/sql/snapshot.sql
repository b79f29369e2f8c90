SELECT seq, body FROM snapshots WHERE execution_id = :id
