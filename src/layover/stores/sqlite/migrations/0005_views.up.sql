-- Since when an execution is paused; of those that are already, all that is known is when they last moved.
ALTER TABLE heads ADD COLUMN paused_at INTEGER;

UPDATE heads
SET paused_at = coalesce(
    (SELECT at FROM events AS e WHERE e.execution_id = heads.execution_id ORDER BY e.seq DESC LIMIT 1), 0
)
WHERE status = 'paused';

CREATE INDEX heads_paused ON heads (paused_at) WHERE paused_at IS NOT NULL;
CREATE INDEX heads_paused_of ON heads (workflow, paused_at) WHERE paused_at IS NOT NULL;

-- What is waited for, by kind and by workflow: a few people to ask among very many timers are not searched for.
CREATE INDEX pause_points_waiting_of_kind ON pause_points (kind, opened_at) WHERE status IN ('open', 'answered');
CREATE INDEX pause_points_waiting_of ON pause_points (workflow, kind, opened_at) WHERE status IN ('open', 'answered');
