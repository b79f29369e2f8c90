-- Versions are immutable and kept while an execution refers to them.
CREATE TABLE layover.versions (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workflow text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    hash text COLLATE "C" NOT NULL,
    document bytea NOT NULL,
    created_at bigint NOT NULL,
    UNIQUE (workflow, number)
);

CREATE INDEX versions_by_hash ON layover.versions (hash, workflow, number);

-- The hot row: ready queue, timer wheel and failure detector at once. Half of each page is free, so that a row which
-- moves on finds room beside itself: as long as `wake_at` stays as it is, no index is touched.
CREATE TABLE layover.heads (
    execution_id uuid PRIMARY KEY,
    created_at bigint NOT NULL,
    wake_at bigint,
    missing_since bigint,
    priority integer NOT NULL,
    last_seq integer NOT NULL,
    last_epoch integer NOT NULL,
    epoch integer NOT NULL,
    commands_seq integer NOT NULL,
    commands_done integer NOT NULL,
    takeovers integer NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    owner text COLLATE "C",
    missing text[]
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

CREATE INDEX heads_due ON layover.heads (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX heads_driven ON layover.heads (owner) WHERE owner IS NOT NULL;
CREATE INDEX heads_paused ON layover.heads (created_at DESC, execution_id DESC) WHERE status = 'paused';
CREATE INDEX heads_missing ON layover.heads USING gin (missing) WHERE missing IS NOT NULL;

CREATE TABLE layover.executions (
    execution_id uuid PRIMARY KEY,
    created_at bigint NOT NULL,
    finished_at bigint,
    parent_id uuid,
    version_id integer NOT NULL,
    "user" text,
    correlation_id text,
    outcome text,
    error_code text,
    tags text[],
    input jsonb -- what it began with, if it can be found by it
) WITH (fillfactor = 90);

CREATE INDEX executions_by_age ON layover.executions (created_at, execution_id);
CREATE INDEX executions_by_parent ON layover.executions (parent_id, created_at, execution_id)
WHERE parent_id IS NOT NULL;
CREATE INDEX executions_by_end ON layover.executions (finished_at, execution_id) WHERE finished_at IS NOT NULL;
CREATE INDEX executions_by_tag ON layover.executions USING gin (tags) WHERE tags IS NOT NULL;
CREATE INDEX executions_by_input ON layover.executions USING gin (input jsonb_path_ops) WHERE input IS NOT NULL;

-- One row per append: the JSON array of its events, the first of which has the number `seq`. `era` is the week in which
-- the execution began: what began in one week lies in one partition, and goes with it when nothing of it is needed.
CREATE TABLE layover.events (
    execution_id uuid NOT NULL,
    at bigint NOT NULL,
    seq integer NOT NULL,
    era integer NOT NULL,
    count integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (execution_id, seq, era)
) PARTITION BY LIST (era);

CREATE TABLE layover.events_rest PARTITION OF layover.events DEFAULT;

CREATE TABLE layover.snapshots (
    execution_id uuid PRIMARY KEY,
    seq integer NOT NULL,
    body bytea NOT NULL
);

CREATE TABLE layover.pause_points (
    execution_id uuid NOT NULL,
    opened_at bigint NOT NULL,
    closed_at bigint,
    id text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    schema bytea,
    PRIMARY KEY (execution_id, id)
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX pause_points_by_id ON layover.pause_points (id);
CREATE INDEX pause_points_by_age ON layover.pause_points (opened_at, id);
CREATE INDEX pause_points_waiting ON layover.pause_points (opened_at, id) WHERE status IN ('open', 'answered');

CREATE TABLE layover.commands (
    execution_id uuid NOT NULL,
    at bigint NOT NULL,
    n integer NOT NULL,
    source_n integer NOT NULL,
    kind text NOT NULL,
    source text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (execution_id, n),
    CONSTRAINT commands_by_source UNIQUE (execution_id, source, source_n)
);

-- What one sender has for one destination lies together: it is delivered in the order of its numbers.
CREATE TABLE layover.outbox (
    sender uuid NOT NULL,
    due_at bigint NOT NULL,
    n bigint NOT NULL,
    destination text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (sender, destination, n)
);

CREATE INDEX outbox_by_time ON layover.outbox (due_at, sender, n, destination);

CREATE TABLE layover.tokens (
    execution_id uuid NOT NULL,
    hash bytea NOT NULL,
    point text COLLATE "C" NOT NULL,
    PRIMARY KEY (execution_id, hash)
);

CREATE UNIQUE INDEX tokens_by_hash ON layover.tokens (hash);

CREATE TABLE layover.waits (
    execution_id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    point text COLLATE "C" NOT NULL,
    PRIMARY KEY (name, key, point)
);

CREATE INDEX waits_by_point ON layover.waits (point);

CREATE TABLE layover.signals (
    id text COLLATE "C" PRIMARY KEY,
    at bigint NOT NULL,
    dispatched boolean NOT NULL,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    data bytea NOT NULL
);

CREATE INDEX signals_by_key ON layover.signals (name, key, at, id);
CREATE INDEX signals_by_age ON layover.signals (dispatched, at, id);

-- Who may begin: `name` and `most` are the slots that it wants, and it holds one since `held_at` or is in line by
-- `rank`; then `start_at` is the moment that its rate lets it begin.
CREATE TABLE layover.places (
    execution_id uuid PRIMARY KEY,
    rank bigint NOT NULL,
    held_at bigint,
    start_at bigint,
    most bigint,
    rate_limit bigint,
    rate_per_ms bigint,
    admitted boolean NOT NULL,
    name text COLLATE "C",
    rate text COLLATE "C"
);

CREATE INDEX places_held ON layover.places (name, held_at, execution_id) WHERE held_at IS NOT NULL;
CREATE INDEX places_in_line ON layover.places (name, rank, execution_id) WHERE held_at IS NULL;

-- When a name has used up its rate, in microseconds: so that a third of a second is not rounded away.
CREATE TABLE layover.rates (
    name text COLLATE "C" PRIMARY KEY,
    used_until bigint NOT NULL
);

CREATE INDEX rates_by_use ON layover.rates (used_until);

CREATE TABLE layover.locks (
    name text COLLATE "C" PRIMARY KEY,
    holder text COLLATE "C" NOT NULL,
    until bigint NOT NULL
);

-- Who has the database open to drive executions, and when it last said so.
CREATE TABLE layover.instances (
    name text COLLATE "C" PRIMARY KEY,
    seen_at bigint NOT NULL
);
