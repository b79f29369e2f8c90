INSERT INTO snapshots (execution_id, seq, body) VALUES (:id, :seq, :body)
