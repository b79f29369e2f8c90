-- From one name to the one after it: a workflow may have very many versions.
WITH RECURSIVE found (workflow) AS (
    SELECT (SELECT v.workflow FROM versions AS v WHERE v.workflow > :after ORDER BY v.workflow LIMIT 1)
    UNION ALL
    SELECT (SELECT v.workflow FROM versions AS v WHERE v.workflow > found.workflow ORDER BY v.workflow LIMIT 1)
    FROM found
    WHERE found.workflow IS NOT NULL
    LIMIT :limit
)
SELECT v.workflow, v.number, v.hash, v.document, v.created_at
FROM found
CROSS JOIN versions AS v
WHERE v.workflow = found.workflow
    AND v.number = (SELECT max(n.number) FROM versions AS n WHERE n.workflow = found.workflow)
