SELECT DISTINCT ON (workflow) workflow, number, hash, document, created_at
FROM layover.versions
ORDER BY workflow DESC, number DESC
