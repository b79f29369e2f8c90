-- compatible
-- The pause of a workflow may end by itself: at a moment, or with a signal. At `due_at` an instance has to act.
ALTER TABLE layover.standings ADD COLUMN due_at bigint;
ALTER TABLE layover.standings ADD COLUMN resume_signal text COLLATE "C";
ALTER TABLE layover.standings ADD COLUMN resume_key text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE layover.standings ADD COLUMN resume_filter text NOT NULL DEFAULT '';
ALTER TABLE layover.standings ADD COLUMN resume_by text NOT NULL DEFAULT '';

CREATE INDEX standings_due ON layover.standings (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX standings_by_signal ON layover.standings (resume_signal, resume_key) WHERE resume_signal IS NOT NULL;
