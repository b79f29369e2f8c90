SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM layover.pause_points
WHERE status IN ('open', 'answered')
    AND (opened_at, id) > ($5::bigint, $6::text)
    -- A CASE is taken to leave half of the rows. An OR is taken to leave hardly any, if none were ever counted: all that
    -- are there would be read and sorted.
    AND CASE WHEN $1::text IS NULL THEN TRUE ELSE workflow = $1 END
    AND CASE WHEN $2::text IS NULL THEN TRUE ELSE kind = $2 END
    AND CASE WHEN $3::text[] IS NULL THEN TRUE ELSE status = ANY($3) END
ORDER BY opened_at, id
LIMIT $4::bigint
