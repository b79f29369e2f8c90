INSERT INTO standings (workflow, state, changed_at, reason, changed_by)
VALUES (:workflow, :state, :changed_at, :reason, :by)
