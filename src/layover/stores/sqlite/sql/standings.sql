SELECT workflow, state, changed_at, reason, changed_by FROM standings ORDER BY workflow
