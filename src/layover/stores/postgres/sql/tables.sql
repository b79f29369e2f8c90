SELECT
    EXISTS (SELECT FROM pg_catalog.pg_namespace AS n WHERE n.nspname = $1::text) AS has_schema,
    ARRAY(
        SELECT c.relname::text
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = $1::text AND c.relkind IN ('r', 'p', 'f')
    ) AS tables
