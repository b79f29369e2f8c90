-- Who may use the engine from outside. Of a key only the hash is kept; `roles` and `scopes` are JSON arrays.
CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    prefix TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL,
    user TEXT NOT NULL,
    roles TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    scopes TEXT,
    created_by TEXT NOT NULL,
    expires_at INTEGER,
    ended_at INTEGER
) WITHOUT ROWID;

-- What people did, each written in the transaction of the act. It stays when its execution goes.
CREATE TABLE audit (
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    act TEXT NOT NULL,
    target TEXT NOT NULL,
    execution_id TEXT,
    credential TEXT NOT NULL,
    request_id TEXT NOT NULL,
    details BLOB NOT NULL,
    PRIMARY KEY (at, id)
) WITHOUT ROWID;

CREATE INDEX audit_by_user ON audit (user, at, id);
CREATE INDEX audit_by_execution ON audit (execution_id, at, id) WHERE execution_id IS NOT NULL;

-- What requests with an idempotency key were answered; with status 0 it is being worked at, `until` then.
CREATE TABLE replies (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    until INTEGER NOT NULL,
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (scope, key)
);

CREATE INDEX replies_by_time ON replies (until);

-- Whether workflows may be started: one that nothing is noted of is active.
CREATE TABLE standings (
    workflow TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    changed_by TEXT NOT NULL
) WITHOUT ROWID;
