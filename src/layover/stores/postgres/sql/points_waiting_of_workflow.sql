SELECT p.id, p.execution_id, p.workflow, p.status, p.closed_at, p.body, p.schema
FROM unnest($6::text[]) AS k (kind)
CROSS JOIN LATERAL (
    SELECT id, execution_id, workflow, status, closed_at, body, schema, opened_at
    FROM layover.pause_points
    WHERE status IN ('open', 'answered')
        -- Compared and ordered by the whole index, for which no other will do: what was frequent when the server
        -- counted may be rare by now.
        AND (workflow, kind, opened_at, id) > ($5::text, k.kind, $3::bigint, $4::text)
        AND (workflow, kind) <= ($5::text, k.kind)
        -- A CASE is taken to leave half of the rows. Else it is taken to leave hardly any, if none were ever counted:
        -- all that are there would be read and sorted.
        AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
    ORDER BY workflow, kind, opened_at, id
    LIMIT $2::bigint -- of each kind
) AS p
ORDER BY p.opened_at, p.id
LIMIT $2::bigint
