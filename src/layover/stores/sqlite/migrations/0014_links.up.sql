-- Links by which people reach a pause point; of the token in a link only the hash is known.
CREATE TABLE links (
    hash BLOB NOT NULL PRIMARY KEY,
    execution_id BLOB NOT NULL,
    point TEXT NOT NULL,
    user TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) WITHOUT ROWID;

CREATE INDEX links_by_execution ON links (execution_id);
