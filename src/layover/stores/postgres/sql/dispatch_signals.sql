WITH told AS MATERIALIZED (
    SELECT s.id, s.dispatched
    FROM unnest($1::text[]) AS g (id)
    JOIN layover.signals AS s ON s.id = g.id
    ORDER BY s.id
    FOR NO KEY UPDATE OF s
)
UPDATE layover.signals AS s
SET dispatched = TRUE
FROM told AS t
WHERE s.id = t.id AND NOT t.dispatched
