SELECT id, execution_id, workflow, status, closed_at, body, schema
FROM layover.pause_points
WHERE status IN ('open', 'answered')
    -- Compared and ordered by the whole index, for which no other will do: what was frequent when the server counted
    -- may be rare by now.
    AND (kind, opened_at, id) > ($5::text, $3::bigint, $4::text)
    AND kind <= $5::text
    -- A CASE is taken to leave half of the rows. Else it is taken to leave hardly any, if none were ever counted: all
    -- that are there would be read and sorted.
    AND CASE WHEN status = ANY($1::text[]) THEN TRUE ELSE FALSE END
ORDER BY kind, opened_at, id
LIMIT $2::bigint
