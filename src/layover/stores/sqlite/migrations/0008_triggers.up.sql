-- What starts executions by itself: rows that any instance serves. A trigger is due at `next_at`.
CREATE TABLE triggers (
    id BLOB NOT NULL PRIMARY KEY,
    workflow TEXT NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    config BLOB NOT NULL,
    timing TEXT NOT NULL,
    topic TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    owner TEXT,
    next_at INTEGER,
    cursor BLOB NOT NULL,
    failures INTEGER NOT NULL
) WITHOUT ROWID;

CREATE UNIQUE INDEX triggers_by_name ON triggers (workflow, name);
CREATE INDEX triggers_due ON triggers (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX triggers_by_topic ON triggers (topic) WHERE topic <> '';

-- Each input becomes one execution; its id is known until `forget_at`.
CREATE TABLE trigger_inputs (
    trigger_id BLOB NOT NULL,
    input_id TEXT NOT NULL,
    state TEXT NOT NULL,
    at INTEGER,
    received_at INTEGER NOT NULL,
    due_at INTEGER,
    forget_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    reason TEXT NOT NULL,
    execution_id BLOB,
    seq INTEGER NOT NULL,
    PRIMARY KEY (trigger_id, input_id)
) WITHOUT ROWID;

CREATE INDEX trigger_inputs_due ON trigger_inputs (due_at) WHERE state = 'pending' AND due_at IS NOT NULL;
CREATE INDEX trigger_inputs_by_state ON trigger_inputs (trigger_id, state, seq);
CREATE INDEX trigger_inputs_by_age ON trigger_inputs (trigger_id, received_at, input_id);
CREATE INDEX trigger_inputs_to_forget ON trigger_inputs (forget_at) WHERE state <> 'pending';

-- The log of each trigger, written with what it tells of.
CREATE TABLE trigger_events (
    trigger_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (trigger_id, seq)
) WITHOUT ROWID;

CREATE INDEX trigger_events_by_age ON trigger_events (at);
