-- compatible
-- Filters of lists that users keep under a name.
CREATE TABLE layover.saved_views (
    changed_at bigint NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY ("user", name)
);
