-- The pause of a workflow may end by itself: at a moment, or with a signal. At `due_at` an instance has to act.
ALTER TABLE standings ADD COLUMN due_at INTEGER;
ALTER TABLE standings ADD COLUMN resume_signal TEXT;
ALTER TABLE standings ADD COLUMN resume_key TEXT NOT NULL DEFAULT '';
ALTER TABLE standings ADD COLUMN resume_filter TEXT NOT NULL DEFAULT '';
ALTER TABLE standings ADD COLUMN resume_by TEXT NOT NULL DEFAULT '';

CREATE INDEX standings_due ON standings (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX standings_by_signal ON standings (resume_signal, resume_key) WHERE resume_signal IS NOT NULL;
