SELECT c.execution_id, c.n, c.at, c.kind, c.body, c.source, c.source_n
FROM unnest($1::uuid[], $2::bigint[]) AS w (execution_id, after)
CROSS JOIN LATERAL (
    SELECT *
    FROM layover.commands
    WHERE execution_id = w.execution_id AND n > w.after
    ORDER BY n -- so that they are sought by it, and not read from the first on
) AS c
ORDER BY c.execution_id, c.n
