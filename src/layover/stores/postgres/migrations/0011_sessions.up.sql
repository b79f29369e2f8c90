-- compatible
-- Browsers that have signed in, and links that sign one in, once; of their tokens only the hashes are known. A session
-- ends with the key that it was opened with.
CREATE TABLE layover.sessions (
    id text COLLATE "C" PRIMARY KEY,
    hash bytea NOT NULL,
    kind text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    roles text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    scopes text,
    opened_by text NOT NULL,
    key_id text COLLATE "C" NOT NULL
);

CREATE UNIQUE INDEX sessions_by_hash ON layover.sessions (hash);
CREATE INDEX sessions_of_user ON layover.sessions ("user", kind, created_at, id);
CREATE INDEX sessions_of_kind ON layover.sessions (kind, id);
CREATE INDEX sessions_by_end ON layover.sessions (expires_at, id);
