INSERT INTO events (execution_id, seq, count, at, body) VALUES (?, ?, ?, ?, ?)
