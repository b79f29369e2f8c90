-- Audit entries are kept as they were written, and sealed: `leaf` is the hash of `salt` and `entry`, and `seal` names the
-- seal that holds it. Entries of earlier releases have none of these until they are sealed.
ALTER TABLE audit ADD COLUMN entry BLOB;
ALTER TABLE audit ADD COLUMN salt BLOB;
ALTER TABLE audit ADD COLUMN leaf BLOB;
ALTER TABLE audit ADD COLUMN document BLOB;
ALTER TABLE audit ADD COLUMN seal INTEGER;

CREATE INDEX audit_unsealed ON audit (at, id) WHERE seal IS NULL;
CREATE INDEX audit_by_seal ON audit (seal, at, id) WHERE seal IS NOT NULL;
CREATE INDEX audit_by_document ON audit (document) WHERE document IS NOT NULL;

-- What users saw when they decided, by the SHA-256 of its bytes.
CREATE TABLE audit_documents (
    hash BLOB PRIMARY KEY,
    body BLOB NOT NULL
) WITHOUT ROWID;

-- The chain: each seal has the leaves of its entries, their Merkle root, and the head of the seal before it.
CREATE TABLE audit_seals (
    n INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    leaves BLOB NOT NULL,
    root BLOB NOT NULL,
    prev BLOB NOT NULL,
    head BLOB NOT NULL,
    key_id TEXT,
    signature BLOB
);

CREATE INDEX audit_seals_by_time ON audit_seals (at, n);

-- The public keys of seals; each is valid from its first seal until the next key has signed one.
CREATE TABLE audit_keys (
    id TEXT PRIMARY KEY,
    public BLOB NOT NULL,
    first_seal INTEGER NOT NULL UNIQUE,
    since INTEGER NOT NULL
) WITHOUT ROWID;
