-- compatible
-- Nodes before which the executions of a workflow pause, and why: an object of JSON.
ALTER TABLE layover.standings ADD COLUMN breakpoints text COLLATE "C" NOT NULL DEFAULT '{}';

CREATE INDEX standings_with_breakpoints ON layover.standings (workflow) WHERE breakpoints <> '{}';
