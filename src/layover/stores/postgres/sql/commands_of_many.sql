SELECT c.execution_id, c.n, c.at, c.kind, c.body, c.source, c.source_n
FROM unnest($1::uuid[], $2::bigint[]) AS w (execution_id, after)
JOIN layover.commands AS c ON c.execution_id = w.execution_id AND c.n > w.after
ORDER BY c.execution_id, c.n
