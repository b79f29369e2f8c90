SELECT workflow, state, changed_at, reason, changed_by
FROM standings
WHERE workflow IN (SELECT value FROM json_each(:workflows))
ORDER BY workflow
