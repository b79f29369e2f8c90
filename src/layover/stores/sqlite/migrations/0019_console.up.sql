-- What users have set for themselves, on every browser: an object of JSON.
CREATE TABLE user_settings (
    user TEXT NOT NULL PRIMARY KEY,
    body BLOB NOT NULL,
    changed_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Definitions as they were written, with comments: of each version the newest text.
CREATE TABLE definition_texts (
    workflow TEXT NOT NULL,
    number INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    body BLOB NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (workflow, number)
);
