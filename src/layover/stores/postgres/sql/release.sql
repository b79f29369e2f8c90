WITH locked AS MATERIALIZED (
    SELECT h.execution_id, g.takeovers
    FROM unnest($2::uuid[], $3::integer[], $7::integer[]) AS g (execution_id, epoch, takeovers)
    JOIN layover.heads AS h ON h.execution_id = g.execution_id AND h.epoch = g.epoch
    WHERE h.owner IS NOT DISTINCT FROM $1::text -- not sought by it: an instance drives many others
    ORDER BY h.execution_id
    FOR NO KEY UPDATE OF h
)
UPDATE layover.heads AS h
SET owner = NULL,
    takeovers = l.takeovers,
    wake_at = CASE WHEN h.commands_seq > h.commands_done AND $6::bigint IS NULL THEN 0 ELSE $4::bigint END,
    missing = $5::text[],
    missing_since = CASE WHEN $5 IS NOT NULL THEN coalesce(h.missing_since, $6, $4) END
FROM locked AS l
WHERE h.execution_id = l.execution_id
