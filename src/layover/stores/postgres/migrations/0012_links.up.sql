-- compatible
-- Links by which people reach a pause point; of the token in a link only the hash is known.
CREATE TABLE layover.links (
    execution_id uuid NOT NULL,
    made_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    hash bytea NOT NULL PRIMARY KEY,
    point text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL
);

CREATE INDEX links_by_execution ON layover.links (execution_id);
