SELECT p.id, p.execution_id, p.workflow, p.status, p.closed_at, p.body, p.schema
FROM unnest($6::text[]) AS k (kind)
CROSS JOIN LATERAL (
    SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
    FROM layover.pause_points
    WHERE status IN ('open', 'answered')
        AND workflow = $5::text
        AND kind = k.kind
        AND (opened_at, id) > ($3::bigint, $4::text)
        -- A CASE is taken to leave half of the rows. Else it is taken to leave hardly any, if none were ever counted:
        -- all that are there would be read and sorted.
        AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
    ORDER BY opened_at, id
    LIMIT $2::bigint -- the index has them by kind: of each, a page at most
) AS p
ORDER BY p.opened_at, p.id
LIMIT $2::bigint
