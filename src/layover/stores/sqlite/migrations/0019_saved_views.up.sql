-- Filters of lists that users keep under a name.
CREATE TABLE saved_views (
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    body BLOB NOT NULL,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (user, name)
) WITHOUT ROWID;
