-- What users have set for themselves, on every browser: an object of JSON.
CREATE TABLE user_settings (
    user TEXT NOT NULL PRIMARY KEY,
    body BLOB NOT NULL,
    changed_at INTEGER NOT NULL
) WITHOUT ROWID;
