INSERT INTO layover.standings (workflow, state, changed_at, reason, changed_by)
SELECT workflow, state, changed_at, reason, changed_by
FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[])
    AS given (workflow, state, changed_at, reason, changed_by)
