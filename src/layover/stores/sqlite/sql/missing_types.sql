WITH RECURSIVE found (missing) AS (
    SELECT (SELECT min(missing) FROM heads WHERE missing IS NOT NULL)
    UNION ALL
    SELECT (SELECT min(missing) FROM heads WHERE missing > found.missing) FROM found WHERE found.missing IS NOT NULL
)
SELECT missing FROM found WHERE missing IS NOT NULL
