SELECT g.execution_id, NULL::text, NULL::integer, NULL::integer, NULL::integer
FROM given_new AS g
LEFT JOIN new_heads AS n USING (execution_id)
WHERE n.execution_id IS NULL
