-- compatible
-- What was done to something that is no execution is sought by it: an act on it that is repeated is no act.
CREATE INDEX audit_by_target ON layover.audit (target, at, id) WHERE execution_id IS NULL;

-- One act on many items: any instance claims a batch that is due, does a page of its items, and lets go of it.
CREATE TABLE layover.batches (
    id uuid NOT NULL PRIMARY KEY,
    act text COLLATE "C" NOT NULL,
    wanted bytea NOT NULL,
    arguments bytea NOT NULL,
    caller bytea NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    code text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    ended_at bigint,
    due_at bigint NOT NULL,
    epoch bigint NOT NULL,
    "interval" bigint NOT NULL,
    free_at bigint NOT NULL,
    share integer NOT NULL,
    watch bigint NOT NULL,
    canary bigint NOT NULL,
    watch_until bigint,
    cursor text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    total bigint NOT NULL,
    done bigint NOT NULL,
    skipped bigint NOT NULL,
    failed bigint NOT NULL
) WITH (fillfactor = 50);

CREATE INDEX batches_due ON layover.batches (due_at, id) WHERE state IN ('collecting', 'running', 'watching');
CREATE INDEX batches_by_time ON layover.batches (created_at, id);
CREATE INDEX batches_ended ON layover.batches (ended_at, id) WHERE ended_at IS NOT NULL;

CREATE TABLE layover.batch_items (
    batch_id uuid NOT NULL,
    n bigint NOT NULL,
    target text COLLATE "C" NOT NULL,
    parent text COLLATE "C" NOT NULL,
    pin text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    code text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    at bigint,
    PRIMARY KEY (batch_id, n)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX batch_items_by_state ON layover.batch_items (batch_id, state, n);
