-- compatible
-- What users have set for themselves, on every browser: an object of JSON.
CREATE TABLE layover.user_settings (
    "user" text COLLATE "C" NOT NULL PRIMARY KEY,
    body bytea NOT NULL,
    changed_at bigint NOT NULL
);

-- Definitions as they were written, with comments: of each version the newest text.
CREATE TABLE layover.definition_texts (
    workflow text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    media_type text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    changed_at bigint NOT NULL,
    PRIMARY KEY (workflow, number)
);
