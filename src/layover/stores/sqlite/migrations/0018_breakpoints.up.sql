-- Nodes before which the executions of a workflow pause, and why: an object of JSON.
ALTER TABLE standings ADD COLUMN breakpoints TEXT NOT NULL DEFAULT '{}';

CREATE INDEX standings_with_breakpoints ON standings (workflow) WHERE breakpoints <> '{}';
