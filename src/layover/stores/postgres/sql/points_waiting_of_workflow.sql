-- The index has them by kind, so the lists of all kinds are merged: no further than the page goes. A CASE is taken to
-- leave half of the rows. Else it is taken to leave hardly any, if none were ever counted: all would be sorted.
SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM (
    SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
    FROM layover.pause_points
    WHERE status IN ('open', 'answered')
        AND workflow = $5::text
        AND kind = 'timer'
        AND (opened_at, id) > ($3::bigint, $4::text)
        AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
    UNION ALL
    SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
    FROM layover.pause_points
    WHERE status IN ('open', 'answered')
        AND workflow = $5::text
        AND kind = 'approval'
        AND (opened_at, id) > ($3::bigint, $4::text)
        AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
    UNION ALL
    SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
    FROM layover.pause_points
    WHERE status IN ('open', 'answered')
        AND workflow = $5::text
        AND kind = 'form'
        AND (opened_at, id) > ($3::bigint, $4::text)
        AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
    UNION ALL
    SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
    FROM layover.pause_points
    WHERE status IN ('open', 'answered')
        AND workflow = $5::text
        AND kind = 'signal'
        AND (opened_at, id) > ($3::bigint, $4::text)
        AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
    UNION ALL
    SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
    FROM layover.pause_points
    WHERE status IN ('open', 'answered')
        AND workflow = $5::text
        AND kind = 'callback'
        AND (opened_at, id) > ($3::bigint, $4::text)
        AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
    UNION ALL
    SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
    FROM layover.pause_points
    WHERE status IN ('open', 'answered')
        AND workflow = $5::text
        AND kind = 'child'
        AND (opened_at, id) > ($3::bigint, $4::text)
        AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
) AS merged
ORDER BY opened_at, id
LIMIT $2::bigint
