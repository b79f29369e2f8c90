INSERT INTO outbox (sender, n, destination, kind, body, due_at)
VALUES (:sender, :n, :destination, :kind, :body, :due_at)
ON CONFLICT DO NOTHING
