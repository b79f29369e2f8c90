SELECT workflow, number, hash, document, created_at FROM versions WHERE hash = :hash ORDER BY number, id LIMIT 1
