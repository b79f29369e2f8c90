SELECT workflow, state, changed_at, reason, changed_by FROM layover.standings ORDER BY workflow
