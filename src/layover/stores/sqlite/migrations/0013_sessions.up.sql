-- Browsers that have signed in, and links that sign one in, once; of their tokens only the hashes are known. A session
-- ends with the key that it was opened with.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    user TEXT NOT NULL,
    roles TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    scopes TEXT,
    opened_by TEXT NOT NULL,
    key_id TEXT NOT NULL
) WITHOUT ROWID;

CREATE INDEX sessions_of_user ON sessions (user, kind, created_at, id);
CREATE INDEX sessions_of_kind ON sessions (kind, id);
CREATE INDEX sessions_by_end ON sessions (expires_at, id);
