-- name: tables_of_schema
SELECT
    EXISTS (SELECT FROM pg_catalog.pg_namespace AS n WHERE n.nspname = $1::text) AS has_schema,
    ARRAY(
        SELECT c.relname::text
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = $1::text AND c.relkind IN ('r', 'p', 'f')
    ) AS tables

-- name: create_migrations_table
CREATE TABLE layover.migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    taken_at bigint NOT NULL,
    compatible boolean NOT NULL
)

-- name: recorded_migrations
SELECT number, checksum, compatible FROM layover.migrations ORDER BY number

-- name: record_migration
INSERT INTO layover.migrations (number, name, checksum, taken_at, compatible)
VALUES ($1::integer, $2::text, $3::text, $4::bigint, $5::boolean)

-- name: delete_migration
DELETE FROM layover.migrations WHERE number = $1::integer

-- name: server_settings
SELECT
    current_setting('fsync')::boolean,
    current_setting('full_page_writes')::boolean,
    current_setting('synchronous_commit') <> 'off',
    current_setting('jit')::boolean AND pg_jit_available(),
    current_setting('transaction_read_only')::boolean

-- name: server_version
SELECT current_setting('server_version')
