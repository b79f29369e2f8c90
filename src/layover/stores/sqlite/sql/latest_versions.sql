SELECT workflow, max(number), hash, document, created_at FROM versions GROUP BY workflow ORDER BY workflow
