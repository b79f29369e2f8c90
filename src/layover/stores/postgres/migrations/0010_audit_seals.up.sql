-- compatible
-- Audit entries are kept as they were written, and sealed: `leaf` is the hash of `salt` and `entry`, and `seal` names the
-- seal that holds it. Entries of earlier releases have none of these until they are sealed.
ALTER TABLE layover.audit
    ADD COLUMN entry bytea,
    ADD COLUMN salt bytea,
    ADD COLUMN leaf bytea,
    ADD COLUMN document bytea,
    ADD COLUMN seal bigint;

CREATE INDEX audit_unsealed ON layover.audit (at, id) WHERE seal IS NULL;
CREATE INDEX audit_by_seal ON layover.audit (seal, at, id) WHERE seal IS NOT NULL;
CREATE INDEX audit_by_document ON layover.audit (document) WHERE document IS NOT NULL;

-- What users saw when they decided, by the SHA-256 of its bytes.
CREATE TABLE layover.audit_documents (
    hash bytea PRIMARY KEY,
    body bytea NOT NULL
);

-- The chain: each seal has the leaves of its entries, their Merkle root, and the head of the seal before it.
CREATE TABLE layover.audit_seals (
    n bigint PRIMARY KEY,
    at bigint NOT NULL,
    first bigint NOT NULL,
    count bigint NOT NULL,
    leaves bytea NOT NULL,
    root bytea NOT NULL,
    prev bytea NOT NULL,
    head bytea NOT NULL,
    key_id text,
    signature bytea
);

CREATE INDEX audit_seals_by_time ON layover.audit_seals (at, n);

-- The public keys of seals; each is valid from its first seal until the next key has signed one.
CREATE TABLE layover.audit_keys (
    id text COLLATE "C" PRIMARY KEY,
    public bytea NOT NULL,
    first_seal bigint NOT NULL UNIQUE,
    since bigint NOT NULL
);
