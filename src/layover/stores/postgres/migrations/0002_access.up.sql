-- compatible
-- Who may use the engine from outside. Of a key only the hash is kept; `roles` and `scopes` are JSON arrays.
CREATE TABLE layover.keys (
    id text COLLATE "C" PRIMARY KEY,
    created_at bigint NOT NULL,
    expires_at bigint,
    ended_at bigint,
    hash bytea NOT NULL,
    prefix text NOT NULL,
    name text NOT NULL,
    "user" text NOT NULL,
    roles text NOT NULL,
    scopes text,
    created_by text NOT NULL
);

CREATE UNIQUE INDEX keys_by_hash ON layover.keys (hash);

-- What people did, each written in the transaction of the act. It stays when its execution goes.
CREATE TABLE layover.audit (
    at bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    act text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    execution_id text COLLATE "C",
    credential text NOT NULL,
    request_id text NOT NULL,
    details bytea NOT NULL,
    PRIMARY KEY (at, id)
);

CREATE INDEX audit_by_user ON layover.audit ("user", at, id);
CREATE INDEX audit_by_execution ON layover.audit (execution_id, at, id) WHERE execution_id IS NOT NULL;

-- What requests with an idempotency key were answered; with status 0 it is being worked at, `until` then.
CREATE TABLE layover.replies (
    until bigint NOT NULL,
    status integer NOT NULL,
    scope text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (scope, key)
);

CREATE INDEX replies_by_time ON layover.replies (until);

-- Whether workflows may be started: one that nothing is noted of is active.
CREATE TABLE layover.standings (
    workflow text COLLATE "C" PRIMARY KEY,
    changed_at bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    changed_by text NOT NULL
);
