INSERT INTO standings (workflow, state, changed_at, reason, changed_by)
VALUES (:workflow, :state, :changed_at, :reason, :by)
ON CONFLICT (workflow) DO UPDATE
SET state = excluded.state, changed_at = excluded.changed_at, reason = excluded.reason, changed_by = excluded.changed_by
