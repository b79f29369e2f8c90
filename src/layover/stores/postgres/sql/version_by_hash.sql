SELECT workflow, number, hash, document, created_at
FROM layover.versions
WHERE hash = $1::text
ORDER BY number, id
LIMIT 1
