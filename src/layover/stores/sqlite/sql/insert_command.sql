INSERT INTO commands (execution_id, n, at, kind, body, source, source_n)
VALUES (:id, :n, :at, :kind, :body, :source, :source_n)
