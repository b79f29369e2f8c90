-- name: count_tables
-- Of any program: a file with tables that is not ours is refused.
SELECT count(*) FROM sqlite_schema

-- name: create_migrations_table
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, taken_at INTEGER NOT NULL)

-- name: recorded_migrations
SELECT number, checksum FROM migrations ORDER BY number

-- name: newest_migration
SELECT coalesce(max(number), 0) FROM migrations

-- name: record_migration
INSERT INTO migrations (number, name, checksum, taken_at) VALUES (:number, :name, :checksum, :taken_at)

-- name: delete_migration
DELETE FROM migrations WHERE number = :number
