SELECT workflow, number, hash, document, created_at FROM versions WHERE workflow = :workflow ORDER BY number DESC LIMIT 1
