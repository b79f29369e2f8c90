INSERT INTO snapshots (execution_id, seq, body) VALUES (:id, :seq, :body)
ON CONFLICT (execution_id) DO UPDATE SET seq = excluded.seq, body = excluded.body
