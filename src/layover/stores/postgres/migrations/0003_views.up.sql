-- compatible
-- Since when an execution is paused. Where it does not say, since it was so before this step or by a release from before
-- it, the time of its beginning stands for it: no row has to be written.
ALTER TABLE layover.heads ADD COLUMN paused_at bigint;

CREATE INDEX heads_paused_longest ON layover.heads ((coalesce(paused_at, created_at)), execution_id)
WHERE status = 'paused';
CREATE INDEX heads_paused_of ON layover.heads (workflow, (coalesce(paused_at, created_at)), execution_id)
WHERE status = 'paused';

-- What is waited for, by kind and by workflow: a few people to ask among very many timers are not searched for.
CREATE INDEX pause_points_waiting_of_kind ON layover.pause_points (kind, opened_at, id)
WHERE status IN ('open', 'answered');
CREATE INDEX pause_points_waiting_of ON layover.pause_points (workflow, kind, opened_at, id)
WHERE status IN ('open', 'answered');
