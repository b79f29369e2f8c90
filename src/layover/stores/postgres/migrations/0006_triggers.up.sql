-- compatible
-- What starts executions by itself: rows that any instance serves. A trigger is due at `next_at`.
CREATE TABLE layover.triggers (
    id uuid NOT NULL PRIMARY KEY,
    workflow text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    config bytea NOT NULL,
    timing text COLLATE "C" NOT NULL,
    topic text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    epoch integer NOT NULL,
    owner text COLLATE "C",
    next_at bigint,
    cursor bytea NOT NULL,
    failures integer NOT NULL
);

CREATE UNIQUE INDEX triggers_by_name ON layover.triggers (workflow, name);
CREATE INDEX triggers_due ON layover.triggers (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX triggers_by_topic ON layover.triggers (topic) WHERE topic <> '';

-- Each input becomes one execution; its id is known until `forget_at`.
CREATE TABLE layover.trigger_inputs (
    trigger_id uuid NOT NULL,
    input_id text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    at bigint,
    received_at bigint NOT NULL,
    due_at bigint,
    forget_at bigint NOT NULL,
    attempts integer NOT NULL,
    reason text COLLATE "C" NOT NULL,
    execution_id uuid,
    seq bigint NOT NULL,
    PRIMARY KEY (trigger_id, input_id)
);

CREATE INDEX trigger_inputs_due ON layover.trigger_inputs (due_at) WHERE state = 'pending' AND due_at IS NOT NULL;
CREATE INDEX trigger_inputs_by_state ON layover.trigger_inputs (trigger_id, state, seq);
CREATE INDEX trigger_inputs_by_age ON layover.trigger_inputs (trigger_id, received_at, input_id);
CREATE INDEX trigger_inputs_to_forget ON layover.trigger_inputs (forget_at) WHERE state <> 'pending';

-- The log of each trigger, written with what it tells of.
CREATE TABLE layover.trigger_events (
    trigger_id uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (trigger_id, seq)
);

CREATE INDEX trigger_events_by_age ON layover.trigger_events (at);
