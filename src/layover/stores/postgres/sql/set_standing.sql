INSERT INTO layover.standings (workflow, state, changed_at, reason, changed_by)
VALUES ($1::text, $2::text, $3::bigint, $4::text, $5::text)
ON CONFLICT (workflow) DO UPDATE
SET state = excluded.state, changed_at = excluded.changed_at, reason = excluded.reason, changed_by = excluded.changed_by
