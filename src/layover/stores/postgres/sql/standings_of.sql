SELECT workflow, state, changed_at, reason, changed_by
FROM layover.standings
WHERE workflow = ANY ($1::text[])
ORDER BY workflow
