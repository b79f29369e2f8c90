SELECT a.id, a.at, a."user", a.act, a.target, a.execution_id, a.credential, a.request_id, a.details
FROM layover.audit AS a
CROSS JOIN LATERAL (
    SELECT
    WHERE ($4::text IS NULL OR a.act = $4)
        AND ($5::text IS NULL OR a.target = $5)
    OFFSET 0 -- asked of each, as in `audit`
) AS wanted
-- Compared and ordered by the whole index, for which no other will do: what was frequent when the server counted may be
-- rare by now.
WHERE (a."user", a.at, a.id) < ($6::text, $1::bigint, $2::text) AND a."user" >= $6::text
ORDER BY a."user" DESC, a.at DESC, a.id DESC
LIMIT $3::bigint
