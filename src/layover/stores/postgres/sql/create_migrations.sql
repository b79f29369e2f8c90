CREATE TABLE layover.migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    taken_at bigint NOT NULL,
    compatible boolean NOT NULL
)
