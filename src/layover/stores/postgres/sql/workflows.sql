-- From one name to the one after it: a workflow may have very many versions.
WITH RECURSIVE found (workflow, n) AS (
    (
        SELECT workflow, 1
        FROM layover.versions
        WHERE workflow > $1::text
        ORDER BY workflow
        LIMIT least($2::bigint, 1)
    )
    UNION ALL
    SELECT following.workflow, found.n + 1
    FROM found
    CROSS JOIN LATERAL (
        SELECT workflow FROM layover.versions WHERE workflow > found.workflow ORDER BY workflow LIMIT 1
    ) AS following
    WHERE found.n < $2::bigint
)
SELECT newest.workflow, newest.number, newest.hash, newest.document, newest.created_at
FROM found
CROSS JOIN LATERAL (
    SELECT workflow, number, hash, document, created_at
    FROM layover.versions
    WHERE workflow = found.workflow
    ORDER BY number DESC
    LIMIT 1
) AS newest
ORDER BY found.workflow
