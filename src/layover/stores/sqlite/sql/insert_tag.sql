INSERT INTO tags (tag, created_at, execution_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING
