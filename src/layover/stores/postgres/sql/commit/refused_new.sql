SELECT g.execution_id, NULL::text, NULL::integer, NULL::integer, NULL::integer
FROM given_new AS g
WHERE (g.execution_id IN (SELECT execution_id FROM new_heads)) IS NOT TRUE
