-- compatible
-- What users have set for themselves, on every browser: an object of JSON.
CREATE TABLE layover.user_settings (
    "user" text COLLATE "C" NOT NULL PRIMARY KEY,
    body bytea NOT NULL,
    changed_at bigint NOT NULL
);
