-- compatible
-- What is sent to people and systems: rows that any instance sends. One that `leads` is pending and waits for no other
-- one of its lane: it can be claimed when it is due.
CREATE TABLE layover.deliveries (
    id uuid NOT NULL PRIMARY KEY,
    execution_id uuid,
    n bigint NOT NULL,
    created_at bigint NOT NULL,
    due_at bigint NOT NULL,
    settled_at bigint,
    epoch integer NOT NULL,
    attempts integer NOT NULL,
    awaited boolean NOT NULL,
    leads boolean NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    lane text COLLATE "C" NOT NULL,
    destination text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    point text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    address text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    history bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX deliveries_due ON layover.deliveries (destination, due_at, id) WHERE leads;
CREATE INDEX deliveries_in_lane ON layover.deliveries (destination, lane, n, id)
WHERE state = 'pending' AND lane <> '';
CREATE INDEX deliveries_by_execution ON layover.deliveries (execution_id, state, created_at, id)
WHERE execution_id IS NOT NULL;
CREATE INDEX deliveries_awaited ON layover.deliveries (execution_id, n) WHERE awaited;
CREATE INDEX deliveries_by_state ON layover.deliveries (state, created_at, id);
CREATE INDEX deliveries_by_destination ON layover.deliveries (destination, state, created_at, id);
CREATE INDEX deliveries_ended ON layover.deliveries (settled_at, id) WHERE settled_at IS NOT NULL;
CREATE INDEX deliveries_with_body ON layover.deliveries (settled_at, id)
WHERE settled_at IS NOT NULL AND body <> '' AND state <> 'dead';

-- What all instances know of a destination: its breaker, when its rate allows the next one, and what it is, if that is
-- not in the settings or in a program. Whoever changes a lane holds this row.
CREATE TABLE layover.destinations (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    config bytea NOT NULL,
    state text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    failures integer NOT NULL,
    failing_since bigint,
    open_until bigint,
    opened integer NOT NULL,
    free_at bigint NOT NULL,
    changed_at bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE layover.people (
    "user" text COLLATE "C" NOT NULL PRIMARY KEY,
    roles text[] COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    changed_at bigint NOT NULL
);

CREATE INDEX people_by_role ON layover.people USING gin (roles);
