SELECT workflow, number, hash, document, created_at FROM layover.versions WHERE workflow = $1::text ORDER BY number
