-- What is sent to people and systems: rows that any instance sends. One that `leads` is pending and waits for no other
-- one of its lane: it can be claimed when it is due.
CREATE TABLE deliveries (
    id BLOB NOT NULL PRIMARY KEY,
    execution_id BLOB,
    workflow TEXT NOT NULL,
    n INTEGER NOT NULL,
    lane TEXT NOT NULL,
    destination TEXT NOT NULL,
    kind TEXT NOT NULL,
    point TEXT NOT NULL,
    user TEXT NOT NULL,
    address TEXT NOT NULL,
    body BLOB NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    history BLOB NOT NULL,
    settled_at INTEGER,
    awaited INTEGER NOT NULL,
    leads INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX deliveries_due ON deliveries (destination, due_at, id) WHERE leads;
CREATE INDEX deliveries_in_lane ON deliveries (destination, lane, n, id) WHERE state = 'pending' AND lane <> '';
CREATE INDEX deliveries_by_execution ON deliveries (execution_id, state, created_at, id)
WHERE execution_id IS NOT NULL;
CREATE INDEX deliveries_awaited ON deliveries (execution_id, n) WHERE awaited;
CREATE INDEX deliveries_by_state ON deliveries (state, created_at, id);
CREATE INDEX deliveries_by_destination ON deliveries (destination, state, created_at, id);
CREATE INDEX deliveries_ended ON deliveries (settled_at, id) WHERE settled_at IS NOT NULL;
CREATE INDEX deliveries_with_body ON deliveries (settled_at, id)
WHERE settled_at IS NOT NULL AND body <> x'' AND state <> 'dead';

-- What all instances know of a destination: its breaker, when its rate allows the next one, and what it is, if that is
-- not in the settings or in a program.
CREATE TABLE destinations (
    name TEXT NOT NULL PRIMARY KEY,
    config BLOB NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    failures INTEGER NOT NULL,
    failing_since INTEGER,
    open_until INTEGER,
    opened INTEGER NOT NULL,
    free_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE people (
    user TEXT NOT NULL PRIMARY KEY,
    roles TEXT NOT NULL,
    body BLOB NOT NULL,
    changed_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE people_roles (
    role TEXT NOT NULL,
    user TEXT NOT NULL,
    PRIMARY KEY (role, user)
) WITHOUT ROWID;

CREATE INDEX people_roles_by_user ON people_roles (user);
