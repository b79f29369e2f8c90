SELECT execution_id, has_owner, has_epoch, has_seq, has_commands FROM locked WHERE NOT passed
UNION ALL
SELECT g.execution_id, NULL, NULL, NULL, NULL
FROM given_moves AS g
WHERE (SELECT count(*) FROM locked) < cardinality(:ids::uuid[])
    AND NOT EXISTS (SELECT 1 FROM locked AS l WHERE l.execution_id = g.execution_id)
