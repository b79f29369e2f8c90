SELECT workflow, number, hash, document, created_at FROM versions WHERE hash = :hash ORDER BY number LIMIT 1
