SELECT workflow, state, changed_at, reason, changed_by FROM layover.standings WHERE workflow = $1::text FOR SHARE
